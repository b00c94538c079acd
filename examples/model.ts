/** Checks values that come from elsewhere, and reads a stored session as a tree: what there is first, bodies after. */
import { isPondError, openPond } from "pond-db";
import { hydrateTree, parseSession, planTree, resolveTree, sessionId } from "pond-db/model";

const folder = process.argv[2] ?? "pond-example";
await using pond = await openPond({ store: `${folder}/store` });

const received: unknown = JSON.parse(
  '{ "id": "run-43", "source_agent": "my-agent", "project": "", "options": {} }',
);
try {
  parseSession(received);
} catch (error) {
  if (!isPondError(error)) throw error;
  console.log(`${error.code}: ${error.message}`);
}

const source = await pond.tree();
const { value: plan } = await planTree(source, sessionId("run-42"));
console.log(`${plan.messages.length} messages, ${plan.total?.bytes} bytes; no body was read yet`);
const { value: refs } = await resolveTree(source, plan);
const { value: tree, issues } = await hydrateTree(source, refs);
for (const { message, parts } of tree.messages)
  console.log(message?.role, parts.map(({ part }) => part?.type).join(", "));
console.log(`${issues.length} issues`);
