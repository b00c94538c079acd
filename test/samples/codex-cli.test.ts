/** Codex: the proof over its samples. */
import { samples } from "./suite.ts";

samples({
  client: "codex-cli",
  atLeast: { records: 30_000, sessions: 110 },
  // Prompt history, the output of `codex exec --json`, other tools' own.
  others: [
    "provider-history/codex-history.jsonl",
    "provider/codex.jsonl",
    "teams/codex-session.jsonl",
    "80e1a6e35c/Resources/Fixtures/stage0/agents/codex/schema_drift.jsonl",
    "agent-sessions/Resources/Fixtures/stage0/agents/codex/schema_drift.jsonl",
  ],
});
