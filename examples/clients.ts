/** The clients that pond knows, and what of them is on this machine. */
import { openPond } from "pond-db";
import { adapters } from "pond-db/adapters";

console.log(
  `pond knows ${adapters()
    .map(({ title }) => title)
    .join(", ")}`,
);

const folder = process.argv[2] ?? "pond-example";
await using pond = await openPond({
  store: `${folder}/store`,
  state: `${folder}/state`,
  home: folder,
  env: {},
});
// Restore: "supported", "own-sessions" for a client that takes none of others, or "unsupported".
for (const { adapter, title, restore, files, places } of await pond.adapters())
  console.log(`${adapter}: ${title}, restore ${restore}, ${files} files in ${places.length} places`);
