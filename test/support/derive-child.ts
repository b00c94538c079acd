/**
 * Long work over everything that is stored, as embedding will be: reads messages, computes something of each, and appends it
 * to a derived table, batch by batch; what is there already is not computed again, and what another model made is dropped.
 * `node derive-child.ts '{"store":"...","model":"a"}'`
 */
import { defineTable, openStore, type RowOf } from "../../src/substrate/index.ts";
import { MESSAGES } from "../../src/sessions/tables/schema.ts";

const { store: url, model } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly store: string;
  readonly model: string;
};

const DIM = 256;
const ROWS = 25;
const MAINTAIN_EVERY = 6;

const DERIVED = defineTable({
  name: "derived",
  version: 1,
  derived: true,
  primaryKey: ["session_id", "message_id"],
  columns: {
    session_id: { type: "utf8" },
    message_id: { type: "utf8" },
    model: { type: "utf8" },
    vector: { type: "float16_vector", dim: DIM },
  },
  indexes: [{ column: "vector", kind: "vector", minRows: 400 }],
});

const vectorOf = (text: string): number[] =>
  Array.from({ length: DIM }, (_, n) => ((text.charCodeAt(n % text.length) * (n + 7)) % 199) / 199);

await using store = await openStore(url);
const messages = await store.table(MESSAGES);
let derived = await store.table(DERIVED);
const made = await derived.scan({ select: ["model"], limit: 1 });
if (made.length > 0 && made.string("model", 0) !== model) {
  await store.drop(DERIVED);
  derived = await store.table(DERIVED);
}
const rows = await messages.scan({ select: ["session_id", "id", "search_text"] });
const keys = Array.from({ length: rows.length }, (_, row) => row);
const done = await derived.knownKeys(new Set(keys.map((row) => rows.string("session_id", row))));
const open = keys.filter((row) => !done.has(rows.string("session_id", row), rows.string("id", row)));
for (let from = 0, batches = 1; from < open.length; from += ROWS, batches += 1) {
  await derived.insertRows(open.slice(from, from + ROWS).map(rowOf));
  if (batches % MAINTAIN_EVERY === 0) await derived.maintain({ force: batches % (2 * MAINTAIN_EVERY) === 0 });
}
await derived.maintain();
process.stdout.write(`${await derived.count()} of ${rows.length}\n`);

function rowOf(row: number): RowOf<typeof DERIVED> {
  const [session, id] = [rows.string("session_id", row), rows.string("id", row)];
  const vector = vectorOf(rows.stringOrNull("search_text", row) ?? id);
  return { session_id: session, message_id: id, model, vector };
}
