/** `pond get`: a transcript for people and agents; `--json` is the wire's own answer. */
import { get as runGet, resolveTarget } from "../../handlers/index.ts";
import type { GetResponse, IssueView } from "../../wire/index.ts";
import { getTranscript } from "../../render/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { phrasing } from "../terminal/phrasing.ts";
import type { getFlags } from "../command/verb-flags.ts";
import { usage } from "../command/parse.ts";

export async function get(verb: VerbContext<typeof getFlags>): Promise<Outcome> {
  const { args, flags, out } = verb;
  await using context = await openContext(verb);
  const [id = ""] = args;
  if (id === "" && flags.message === undefined)
    throw usage("get needs <id>", "pond sessions and pond search print ids");
  const target = id === "" ? {} : await resolveTarget(context, id);
  refuseIdle(flags, flags.message !== undefined || "message_id" in target ? "message" : "session");
  const response = withFixes(
    await runGet(context, {
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
    }),
  );
  out.result(response, () => getTranscript(response, phrasing(out.style)));
  return response.issues === undefined ? "done" : "failures";
}

const withFixes = (response: GetResponse): GetResponse =>
  response.issues === undefined ? response : { ...response, issues: response.issues.map(withFix) };

/** Of records that a session lacks: what brings them back. */
function withFix(issue: IssueView): IssueView {
  if (issue.kind !== "missing" || issue.message_id !== undefined) return issue;
  return { ...issue, message: `${issue.message}: ${MISSING_FIX}` };
}

const MISSING_FIX =
  "run pond repair, which reads again what its sources still have, or pond sync with --path for where they are now; " +
  "pond verify --stored shows what is intact";

/** A flag that would count for nothing is a slip. */
const IDLE = {
  message: ["mode", "from", "before", "branch", "end", "history"],
  session: ["context"],
} as const;

function refuseIdle(flags: VerbContext<typeof getFlags>["flags"], kind: keyof typeof IDLE): void {
  const name = IDLE[kind].find((each) => flags[each] !== undefined && flags[each] !== false);
  if (name === undefined) return;
  const instead = kind === "session" ? "name a message with --message" : "name its session instead";
  throw usage(`--${name} does not apply to a ${kind}`, `leave it out, or ${instead}`);
}
