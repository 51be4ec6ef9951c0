// Where the project lives, as pyproject.toml's [project.urls] has it; tests compare the two. Empty: not published yet.
export const LINKS = {};
