/** Stores a session with a tool call, finds it, and restores it into two clients. Run again, it changes nothing. */
import { openPond } from "pond-db";
import { createMessage, createSession, eventsOf, textPart, toolCall, toolResult } from "pond-db/model";

const folder = process.argv[2] ?? "pond-example";
await using pond = await openPond({ store: `${folder}/store` });
const at = "2026-01-02T03:04:05Z";
const session = createSession({ id: "run-42", source_agent: "my-agent", project: "/shop", created_at: at });
const call = { call_id: "call-1", name: "bash" };
const asked = [textPart("Why does checkout fail?")];
const called = [textPart("I run its tests."), toolCall({ ...call, params: { command: "npm test" } })];
const returned = [toolResult({ ...call, result: "3 passed" })];
const messages = [
  createMessage(session, { id: "m0", seq: 0, role: "user", timestamp: at }, asked),
  createMessage(session, { id: "m1", seq: 1, role: "assistant", timestamp: at }, called),
  createMessage(session, { id: "m2", seq: 2, role: "tool", timestamp: at }, returned),
];
const { inserted } = await pond.ingest({ events: [...eventsOf({ session, messages })] });
const { sessions } = await pond.search({ query: "checkout" });
console.log(`${inserted} rows stored; found: ${sessions[0]?.matches[0]?.text}`);
for (const to of ["claude-code", "codex-cli"]) {
  const { resume } = await pond.restore({ session_id: session.id, to, out: `${folder}/${to}`, reuse: true });
  console.log(`${to}: ${resume.command}`);
}
