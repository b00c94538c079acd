import { expect, test } from "vitest";
import { sealExtracted } from "../../model/extracted.ts";
import type { Session } from "../../model/index.ts";
import { messageId, sessionId, timestampFromMillis } from "../../model/index.ts";
import { asRecorded, asRestoredFrom } from "./resumed.ts";

const SESSION: Session = {
  id: sessionId("copy"),
  source_agent: "codex-cli",
  project: sealExtracted("/srv/app"),
  created_at: timestampFromMillis(0)!,
  options: { source: { path: "a.jsonl" } },
};
const FORK: Session = {
  ...SESSION,
  parent_session_id: sessionId("restored"),
  parent_message_id: messageId("m1"),
  relation: "fork",
};
const RESUMED = { parent: sessionId("origin"), message: "u4", relation: "resume" } as const;

test.each([SESSION, FORK])("what pond adds to a session is left out again", (session) => {
  const from = { session: sessionId("origin"), below: RESUMED };
  const stored = asRestoredFrom(session, from);
  expect(stored).toMatchObject({
    parent_session_id: "origin",
    parent_message_id: "u4",
    relation: "resume",
    options: { pond: { restored: { session_id: "origin" } } },
  });
  expect(asRecorded(stored)).toEqual(session);
});

test("a session that says itself where it belongs keeps that", () => {
  const stored = asRestoredFrom(FORK, { session: sessionId("origin") });
  expect(stored).toMatchObject({ parent_session_id: "restored", relation: "fork" });
  expect(asRecorded(stored)).toEqual(FORK);
});

test("a session that an older pond linked is left as its client recorded it", () => {
  const pond = { restored: true, created_at: "file" };
  const stored: Session = { ...FORK, relation: "resume", options: { ...SESSION.options, pond } };
  expect(asRecorded(stored)).toEqual({
    ...SESSION,
    options: { ...SESSION.options, pond: { created_at: "file" } },
  });
  expect(asRecorded(FORK)).toBe(FORK);
});

test("a subagent that its client does not call one is labelled as such, unless it is stored already", () => {
  const below = { parent: sessionId("copied parent"), relation: "spawn" } as const;
  const from = { session: sessionId("origin"), below };
  const stored = asRestoredFrom(SESSION, from);
  expect(stored).toMatchObject({ source_agent: "codex-cli/subagent", relation: "spawn" });
  expect(asRecorded(stored)).toEqual(SESSION);
  expect(asRestoredFrom(SESSION, { ...from, label: "codex-cli" })).toMatchObject({
    source_agent: "codex-cli",
  });
  const scout = { ...SESSION, source_agent: "codex-cli/scout" };
  expect(asRestoredFrom(scout, from)).toMatchObject({ source_agent: "codex-cli/scout" });
});
