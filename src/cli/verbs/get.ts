/** `pond get`: a transcript for people and agents; `--json` is the wire's own answer. */
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
  const [id] = args;
  const target = id === undefined || id === "" ? {} : await resolveTarget(context, id);
  const response = await runGet(context, {
    ...target,
    ...(flags.message === undefined ? {} : { message_id: flags.message }),
    ...(flags.mode === undefined ? {} : { response_mode: flags.mode }),
    ...(flags.from === undefined ? {} : { session_from: flags.from }),
    ...(flags.after === undefined ? {} : { after_id: flags.after }),
    ...(flags.before === undefined ? {} : { before_id: flags.before }),
    ...(flags.branch === undefined ? {} : { branch: flags.branch }),
    ...(flags.context === undefined ? {} : { context_depth: flags.context }),
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
  });
  out.result(response, () => getTranscript(response, phrasing(out.style)));
  return response.issues === undefined ? "done" : "failures";
}
