/** pi: the proof over its samples. */
import { samples } from "./suite.ts";

samples({ client: "pi", atLeast: { records: 10_000, sessions: 60 } });
