/** JSON whose numbers and keys survive: what JSON.parse would change comes back as it was. */
import { equalJson, parseJson, stringifyJson, tryParseJson } from "pond-db/json";

const text = '{"id":12345678901234567890,"rate":0.10000000000000000001}';
console.log(stringifyJson(parseJson(text)) === text);
console.log(equalJson(parseJson("[1.0, 1e2]"), parseJson("[1, 100]")));

const twice = tryParseJson('{"a":1,"a":2}');
if (twice.kind === "duplicate_keys") console.log(`keys that are there twice: ${twice.paths.join(", ")}`);
