/** `pond sync`: everything new into the store, with progress for people and one document for programs. */
import { systemClock } from "../../base/clock.ts";
import { PondError } from "../../base/errors.ts";
import { describeWaits, sync as runSync } from "../../handlers/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { located } from "../terminal/issues.ts";
import { count, counted, duration, size } from "../terminal/number.ts";
import type { Output } from "../terminal/output.ts";
import { safeLine } from "../terminal/text.ts";
import type { syncFlags } from "../command/verb-flags.ts";
import { STAGES } from "../command/verb-flags.ts";
import type {
  ClientReport,
  EmbedProgress,
  EmbedReport,
  Stage,
  SyncProgress,
  SyncReport,
} from "../../wire/sync.ts";

export async function sync(verb: VerbContext<typeof syncFlags>): Promise<Outcome> {
  const { flags, out } = verb;
  await using context = await openContext(verb);
  const started = systemClock.now();
  const progress = progressLine(out);
  const report = await runSync(
    context,
    {
      stages: chosenStages(flags.only, flags.skip),
      dry_run: flags["dry-run"],
      verify: flags.verify,
      wait: flags.wait,
      force_embed: flags["force-embed"],
      ...(flags.adapter.length === 0 ? {} : { adapters: flags.adapter }),
      ...(flags.path.length === 0 ? {} : { paths: flags.path }),
    },
    {
      onProgress: progress.showProgress,
      onEmbed: progress.showEmbedding,
      onIndexes: () => out.progress("bringing the indexes up to date"),
      onWait: ({ pid }) => {
        out.note(`waiting for another sync (pid ${pid})...`);
        progress.restart();
      },
    },
  );
  out.progress(undefined);
  const notes = await wordedNotes(report);
  for (const note of notes) out.note(`note: ${note}`);
  const elapsed = systemClock.now() - started;
  // --quiet is for who is told of any output, by mail as a rule: what could not be read is worth one.
  out.result({ ...report, notes, elapsed_ms: elapsed }, () =>
    flags.quiet ? allIssues(report, out).join("\n") : renderReport(report, elapsed, out),
  );
  return hasFailures(report) ? "failures" : "done";
}

/** The words are loaded where there is something to say: most syncs have nothing. */
async function wordedNotes({ notes }: SyncReport): Promise<readonly string[]> {
  if (notes.length === 0) return [];
  const { worded } = await import("../terminal/next-step.ts");
  return notes.map(worded);
}

function chosenStages(only: readonly string[], skip: readonly string[]): readonly Stage[] {
  const stages = STAGES.filter(
    (stage) => (only.length === 0 || only.includes(stage)) && !skip.includes(stage),
  );
  if (stages.length > 0) return stages;
  throw new PondError("validation_failed", "--only and --skip leave no stage to run", {
    hint: `leave one of them out; the stages are ${STAGES.join(", ")}`,
  });
}

/** Something could not be read; what was read is stored all the same. Glued records are complete, so they are none. */
function hasFailures({ clients, embed }: SyncReport): boolean {
  if (embed.outcome === "failed") return true;
  return clients.some(({ issues }) => Object.keys(issues).some((kind) => kind !== "glued_records"));
}

const REDRAW_MS = 100;

interface ProgressLine {
  readonly showProgress: (progress: SyncProgress) => void;
  readonly showEmbedding: (progress: EmbedProgress) => void;
  /** What went by until the next news was no work of this sync. */
  readonly restart: () => void;
}

function progressLine(out: Output): ProgressLine {
  let started: number | undefined = systemClock.now();
  let drawn = 0;
  const tell = (progress: SyncProgress): void => {
    const now = systemClock.now();
    started ??= now;
    if (now - drawn < REDRAW_MS && progress.files_done < progress.files) return;
    drawn = now;
    const elapsed = Math.max(1, now - started);
    const share = progress.bytes === 0 ? 1 : progress.bytes_done / progress.bytes;
    const left = share <= 0.01 ? "" : `, ${duration((elapsed / share) * (1 - share))} left`;
    const rate = Math.round((progress.messages / elapsed) * 1000);
    out.progress(
      `${progress.client} ${count(progress.files_done)}/${count(progress.files)} files, ` +
        `${size(progress.bytes_done)}/${size(progress.bytes)}, ${count(rate)} msg/s${left}`,
      share,
    );
  };
  let embedding: number | undefined;
  const tellEmbedding = ({ messages_done: done, messages }: EmbedProgress): void => {
    const now = systemClock.now();
    embedding ??= now;
    if (now - drawn < REDRAW_MS && done < messages) return;
    drawn = now;
    const share = messages === 0 ? 1 : done / messages;
    const rate = Math.round((done / Math.max(1, now - embedding)) * 1000);
    out.progress(`embedding ${count(done)}/${count(messages)} messages, ${count(rate)} msg/s`, share);
  };
  return { showProgress: tell, showEmbedding: tellEmbedding, restart: () => (started = undefined) };
}

function renderReport(report: SyncReport, elapsed: number, out: Output): string {
  if ("import" in report.took && report.clients.length === 0)
    return "no client with sessions was found; `pond adapters` lists the places pond reads, `pond demo` shows how it works with made-up sessions";
  const table = out.table(report.clients, [
    { header: "CLIENT", cell: (row) => row.adapter },
    { header: "SEEN", align: "right", cell: (row) => count(row.seen) },
    { header: "FRESH", align: "right", cell: (row) => count(row.fresh) },
    {
      header: report.dry_run ? "TO READ" : "READ",
      align: "right",
      cell: (row) => count(report.dry_run ? row.stale : row.read),
    },
    { header: "SESSIONS", align: "right", cell: (row) => added(row.stored.sessions.inserted) },
    { header: "MESSAGES", align: "right", cell: (row) => added(row.stored.messages.inserted) },
    { header: "PARTS", align: "right", cell: (row) => added(row.stored.parts.inserted) },
    { header: "ISSUES", align: "right", cell: (row) => issueCount(row) },
  ]);
  const lines = "import" in report.took ? [table, ...allIssues(report, out)] : [];
  const waiting = report.clients.reduce((sum, { waiting: n }) => sum + n, 0);
  const waits = report.clients.flatMap((client) => client.waits);
  if (waiting > 0)
    lines.push(
      `waiting: ${counted(waiting, "source is incomplete; it", "sources are incomplete; each")} is imported as it is, one hour after its last change at the latest`,
      ...describeWaits(waits, systemClock.now()).map((line) => `  ${safeLine(line)}`),
    );
  const superseded = report.clients.reduce((sum, client) => sum + client.superseded, 0);
  if (superseded > 0)
    lines.push(
      `${counted(superseded, "older copy of a session was", "older copies of sessions were")} compared; messages and parts are stored once`,
    );
  const relabelled = report.clients.reduce((sum, { stored }) => sum + stored.relabelled, 0);
  if (relabelled > 0)
    lines.push(
      `${counted(relabelled, "session already stored has", "sessions already stored have")} a different project or client in this source; the stored values were kept`,
    );
  const embed = "embed" in report.took ? `; embed: ${embedded(report.embed)}` : "";
  const indexes = "update-indexes" in report.took ? `; update-indexes: ${report.indexes.outcome}` : "";
  const verb = report.dry_run
    ? "looked"
    : report.interrupted
      ? "interrupted: stored what is counted above"
      : "done";
  lines.push(out.style.dim(`${verb} in ${duration(elapsed)}${embed}${indexes}`));
  return lines.join("\n");
}

function embedded({ outcome, run }: EmbedReport): string {
  if (outcome === "off") return "off: no model configured";
  if (outcome === "busy") return "another sync is at it";
  if (run === undefined) return outcome;
  const { messages, without, cut, left, dropped } = run;
  const parts = [
    ...(messages > 0 ? [counted(messages, "message")] : [outcome]),
    ...(cut > 0 ? [`${counted(cut, "text")} cut to what the model takes`] : []),
    ...(without > 0 ? [`${counted(without, "message")} without a vector`] : []),
    ...(left > 0 ? [`${count(left)} left`] : []),
    ...dropped.map((model) => `vectors of ${safeLine(model)} dropped`),
  ];
  return parts.join(", ");
}

const added = (inserted: number): string => (inserted === 0 ? "-" : `+${count(inserted)}`);

function issueCount({ issues }: ClientReport): string {
  const total = Object.values(issues).reduce((sum, n) => sum + n, 0);
  return total === 0 ? "-" : count(total);
}

const allIssues = ({ clients }: SyncReport, { verbose }: Output): string[] =>
  clients.flatMap((client) => issueLines(client, verbose));

/** Of each kind; --verbose shows all that the report has, which is what --json gives. */
const ISSUES_SHOWN = 5;

function issueLines({ adapter, issues, examples }: ClientReport, isVerbose: boolean): string[] {
  return [...Map.groupBy(examples, ({ kind }) => kind)].flatMap(([kind, found]) => {
    const total = issues[kind] ?? found.length;
    const shown = isVerbose ? found : found.slice(0, ISSUES_SHOWN);
    const [first = "", ...others] = shown.map(located);
    const left = total - shown.length;
    const how = shown.length < found.length ? "; --verbose names more" : "";
    return [
      `  ${adapter}: ${count(total)} x ${kind}, first at ${first}`,
      ...others.map((line) => `    ${line}`),
      ...(left === 0 ? [] : [`    and ${count(left)} more${how}`]),
    ];
  });
}
