// Lays out each DOT source of a JSON file with Graphviz in WebAssembly, as json0: node same_places.mjs GRAPHVIZ.js SOURCES.json
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [program, sources] = process.argv.slice(2);
const { Graphviz } = await import(pathToFileURL(program));
const graphviz = await Graphviz.load();
const placed = JSON.parse(readFileSync(sources)).map((source) => graphviz.layout(source, "json0", "dot"));
process.stdout.write(JSON.stringify(placed));
