/** The clients that pond knows, and what of them is on this machine. */
import { openPond } from "pond-db";
import { adapters } from "pond-db/adapters";

for (const { name, title, restore } of adapters()) console.log(`${name}: ${title}, restore ${restore.kind}`);

const folder = process.argv[2] ?? "pond-example";
await using pond = await openPond({
  store: `${folder}/store`,
  state: `${folder}/state`,
  home: folder,
  env: {},
});
for (const { adapter, files, places } of await pond.adapters())
  console.log(`${adapter}: ${files} files in ${places.length} places`);
