/** `pond get`: a transcript for people and agents; `--json` is the wire's own answer. */
import { PondError } from "../../base/errors.ts";
import { get as runGet, resolveTarget } from "../../handlers/index.ts";
import { getTranscript } from "../../wire/index.ts";
import type { VerbContext } from "../command.ts";
import { openContext } from "../context.ts";
import type { Outcome } from "../exit.ts";
import { phrasing } from "../phrasing.ts";
import type { getFlags } from "../verb-flags.ts";

export async function get(verb: VerbContext<typeof getFlags>): Promise<Outcome> {
  const { args, flags, out } = verb;
  await using context = await openContext(verb);
  const [id = ""] = args;
  if (id === "" && flags.message === undefined)
    throw usage("get needs <id>", "pond sessions and pond search print ids");
  const target = id === "" ? {} : await resolveTarget(context, id);
  refuseIdle(flags, flags.message !== undefined || "message_id" in target ? "message" : "session");
  const response = await runGet(context, {
    ...target,
    ...(flags.message === undefined ? {} : { message_id: flags.message }),
    ...(flags.mode === undefined ? {} : { response_mode: flags.mode }),
    ...(flags.from === undefined ? {} : { session_from: flags.from }),
    ...(flags.after === undefined ? {} : { after_id: flags.after }),
    ...(flags.before === undefined ? {} : { before_id: flags.before }),
    ...(flags.branch === undefined ? {} : { branch: flags.branch }),
    ...(flags.end === undefined ? {} : { end: flags.end }),
    ...(flags.history ? { history: true } : {}),
    ...(flags.context === undefined ? {} : { context_depth: flags.context }),
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
  });
  out.result(response, () => getTranscript(response, phrasing(out.style)));
  return response.issues === undefined ? "done" : "failures";
}

/** A flag that would count for nothing is a slip. */
const IDLE = {
  message: ["mode", "from", "before", "branch", "end", "history"],
  session: ["context"],
} as const;

function refuseIdle(flags: VerbContext<typeof getFlags>["flags"], kind: keyof typeof IDLE): void {
  const name = IDLE[kind].find((each) => flags[each] !== undefined && flags[each] !== false);
  if (name === undefined) return;
  const instead = kind === "session" ? "name a message with --message" : "name its session instead";
  throw usage(`--${name} says nothing about a ${kind}`, `leave it out, or ${instead}`);
}

const usage = (message: string, hint: string): PondError =>
  new PondError("validation_failed", message, { hint });
