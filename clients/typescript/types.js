// Writes schema.d.ts from the server's OpenAPI document and client.d.ts from client.js: `npm install && npm run types`.
// Each begins with the SHA-256 of what it was made from, so that a test without npm sees when it is out of date.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const DOCUMENT = "../../docs/openapi.json";

/** @param {string} source @param {string} made */
function stamp(source, made) {
  // A new version of riseq alone changes no type.
  const text = readFileSync(source, "utf8").replace(/^ *"version": .*\n/m, "");
  const hash = createHash("sha256").update(text).digest("hex");
  writeFileSync(made, `// Made by \`npm run types\` from ${source}, ${hash}\n${readFileSync(made, "utf8")}`);
}

/** @param {string[]} command */
const run = (...command) => execFileSync("npx", ["--no-install", ...command], { stdio: "inherit" });

run("openapi-typescript", DOCUMENT, "--default-non-nullable=false", "--output", "schema.d.ts");
stamp(DOCUMENT, "schema.d.ts");
run("tsc", "client.js", "--allowJs", "--declaration", "--emitDeclarationOnly", "--strict", "--module", "NodeNext");
stamp("client.js", "client.d.ts");
