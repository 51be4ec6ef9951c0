// The request on the page, as code to take away. A key is named, never written out.

/** Return `request` as a curl command to the server at `base`. */
export function asCurl(request, base, withKey, direction) {
  const fields = Object.entries(request).map(([name, value]) => `    ${JSON.stringify(name)}: ${write(value, "    ")}`);
  const lines = [
    `curl ${quoteShell(`${base}v1/${direction}`)}`,
    "-H 'Content-Type: application/json'",
    ...(withKey ? ['-H "Authorization: Bearer $RISEQ_API_KEY"'] : []),
    `-d ${quoteShell(`{\n${fields.join(",\n")}\n  }`)}`,
  ];
  return lines.join(" \\\n  ");
}

/** Return `request` as a Python program. JSON's strings, numbers, lists and objects are Python's too. */
export function asPython(request, base, withKey, direction) {
  const { question, context, ...wishes } = request;
  const name = direction === "resolve" ? "client" : "simplify";
  const key = withKey ? ', api_key=os.environ["RISEQ_API_KEY"]' : "";
  return [
    ...(withKey ? ["import os", ""] : []),
    "from riseq.client import Client",
    "",
    `${name} = Client(${JSON.stringify(base)}${key})`,
    `result = ${direction === "resolve" ? `${name}.resolve` : name}(`,
    `    ${JSON.stringify(question)},`,
    `    ${write(context, "    ")},`,
    ...Object.entries(wishes).map(([name, value]) => `    ${name}=${write(value, "    ")},`),
    ")",
    "print(result.text)",
  ].join("\n");
}

/** Return `value` as JSON, a dialogue with a line a turn; `margin` comes before the line that ends it. */
function write(value, margin) {
  if (!Array.isArray(value) || typeof value[0] !== "object") return JSON.stringify(value);
  const turns = value.map(({ role, content }) => `{"role": "${role}", "content": ${JSON.stringify(content)}}`);
  return `[\n${turns.map((turn) => `${margin}    ${turn}`).join(",\n")}\n${margin}]`;
}

const quoteShell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
