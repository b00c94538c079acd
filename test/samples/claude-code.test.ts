/** Claude Code: the proof over its samples. */
import { samples } from "./suite.ts";

samples({ client: "claude-code", atLeast: { records: 40_000, sessions: 400 } });
