"""The project's addresses, as the package's own metadata have them."""

from importlib.metadata import PackageNotFoundError, metadata

PACKAGE = "riseq"


def read_links() -> dict[str, str]:
    """Return the addresses of ``[project.urls]`` by their names; none where it has none, or riseq is not installed."""
    try:
        entries = metadata(PACKAGE).get_all("Project-URL") or []
    except PackageNotFoundError:
        return {}
    links = {}
    for entry in entries:
        name, _, address = (part.strip() for part in entry.partition(","))
        if address.startswith(("https://", "http://")):  # other schemes have no place in a page's link
            links[name] = address
    return links
