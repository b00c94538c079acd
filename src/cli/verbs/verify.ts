/** `pond verify`: every source against what is stored of it, or everything stored against what was recorded of it. */
import { verify as runVerify, verifyFiles, verifyStored } from "../../handlers/index.ts";
import type { VerbContext } from "../command/command.ts";
import { openContext } from "../command/context.ts";
import type { Outcome } from "../terminal/exit.ts";
import { notLookedAt } from "../terminal/issues.ts";
import { worded } from "../terminal/next-step.ts";
import { wordedLoss } from "../command/report-words.ts";
import { count, counted, size } from "../terminal/number.ts";
import { toPondError } from "../../base/errors.ts";
import type { ClientVerification, FilesReport, StoredReport, VerifyProgress } from "../../wire/verify.ts";
import { damageLine, sourceLines } from "./repair.ts";
import type { Output } from "../terminal/output.ts";
import { safeLine } from "../terminal/text.ts";
import type { verifyFlags } from "../command/verb-flags.ts";

export async function verify(verb: VerbContext<typeof verifyFlags>): Promise<Outcome> {
  const { flags, out } = verb;
  await using context = await openContext(verb);
  const filter = {
    ...(flags.adapter.length === 0 ? {} : { adapters: flags.adapter }),
    ...(flags.path.length === 0 ? {} : { paths: flags.path }),
  };
  const show =
    (what: string) =>
    ({ client, done, total }: VerifyProgress): void =>
      out.progress(`${client} ${count(done)}/${count(total)} ${what}`, total === 0 ? 1 : done / total);
  if (flags.stored) {
    const files = await verifyFiles(context, (bytes) => out.progress(`${size(bytes)} of the store read`));
    // What cannot be read fails here; the files say why, so both are told.
    const proof = await verifyStored(context, filter, show("sessions")).catch((error: unknown) => {
      if (files === undefined || files.damage.length === 0) throw error;
      return { clients: [], error: toPondError(error).message };
    });
    out.progress(undefined);
    const report: StoredReport & { readonly error?: string; readonly files?: FilesReport } = {
      ...proof,
      ...(files === undefined ? {} : { files }),
    };
    out.result(wordedLoss(report), () => renderStored(out, report));
    const isWhole = files === undefined || files.damage.length === 0;
    const isEqual = report.clients.every(({ unequal }) => unequal === 0);
    return isWhole && isEqual && report.lost === undefined ? "done" : "failures";
  }
  const report = await runVerify(context, filter, show("sources"));
  out.progress(undefined);
  const { clients, unrecorded, lost } = report;
  out.result(wordedLoss(report), () =>
    [
      clients.length === 0 ? nothingCompared(unrecorded) : renderSources(out, clients),
      ...lostLines(lost),
    ].join("\n"),
  );
  return lost === undefined && clients.every(({ proven }) => proven) ? "done" : "failures";
}

/** A table without a row would look like a proof. */
function nothingCompared(unrecorded = 0): string {
  const stored =
    unrecorded === 0
      ? "and none is stored"
      : `and of the ${counted(unrecorded, "session that is", "sessions that are")} stored no source is recorded`;
  return `nothing was compared: no client that was asked for has sessions on this machine, ${stored}; pond adapters lists the places pond reads`;
}

const lostLines = (lost: StoredReport["lost"]): string[] =>
  lost === undefined ? [] : [safeLine(lost.message), `  fix: ${safeLine(worded(lost.fix))}`];

function renderSources(out: Output, clients: readonly ClientVerification[]): string {
  return [
    out.table(clients, [
      { header: "CLIENT", cell: (row) => row.adapter },
      { header: "SOURCES", align: "right", cell: (row) => count(row.sources) },
      { header: "NOT STORED", align: "right", cell: (row) => count(row.unstored) },
      { header: "FILES", align: "right", cell: (row) => count(row.files) },
      { header: "RECORDS", align: "right", cell: (row) => count(row.records) },
      { header: "EQUAL", align: "right", cell: (row) => count(row.equal) },
      { header: "UNEQUAL", align: "right", cell: (row) => count(row.unequal_records) },
      // Files and sessions: of one that cannot be read no record is compared.
      { header: "FAILED", align: "right", cell: (row) => count(row.unequal) },
    ]),
    ...clients.flatMap(({ differences }) => differences.map((line) => `  ${safeLine(line)}`)),
    ...clients.flatMap(({ adapter, issues }) => notLookedAt(adapter, issues)),
    ...advice(clients),
  ].join("\n");
}

function renderStored(
  out: Output,
  { clients, files, error, lost }: StoredReport & { readonly files?: FilesReport; readonly error?: string },
): string {
  return [
    out.table(clients, [
      { header: "CLIENT", cell: (row) => row.adapter },
      { header: "SESSIONS", align: "right", cell: (row) => count(row.sessions) },
      { header: "SOURCES", align: "right", cell: (row) => count(row.sources) },
      { header: "STATES", align: "right", cell: (row) => count(row.states) },
      { header: "PROVEN", align: "right", cell: (row) => count(row.proven) },
      { header: "PARTIAL", align: "right", cell: (row) => count(row.partial) },
      { header: "UNRECORDED", align: "right", cell: (row) => count(row.unrecorded) },
      { header: "UNEQUAL", align: "right", cell: (row) => count(row.unequal) },
    ]),
    ...clients.flatMap(storedDifferences),
    ...(error === undefined ? [] : [`  the proof ended early: ${safeLine(error)}`]),
    ...strayLine(clients),
    ...(clients.some(({ unequal }) => unequal > 0) && (files?.damage.length ?? 0) === 0
      ? sourceLines({ clients })
      : []),
    ...(files === undefined ? [] : renderFiles(files)),
    ...lostLines(lost),
  ].join("\n");
}

function storedDifferences({
  differences,
  unequal_sessions: all,
}: StoredReport["clients"][number]): readonly string[] {
  const left = all.length - differences.length;
  return [
    ...differences.map((line) => `  ${safeLine(line)}`),
    ...(left === 0
      ? []
      : [`  and ${count(left)} more ${left === 1 ? "session" : "sessions"}, which --json lists`]),
  ];
}

function strayLine(clients: StoredReport["clients"]): string[] {
  const strays = clients.reduce((sum, client) => sum + client.strays, 0);
  if (strays === 0) return [];
  return [
    `${count(strays)} stored ${strays === 1 ? "message is" : "messages are"} in no recorded state: a sync was cut off and the next one records it, or the state was lost; pond get --history shows ${strays === 1 ? "it" : "them"}`,
  ];
}

function renderFiles({ files, bytes, unsummed, late, damage }: FilesReport): string[] {
  const without = unsummed === 0 ? "" : `, ${count(unsummed)} of them without a checksum`;
  const unknown = late === 0 ? without : `${without}, ${count(late)} with one that was taken later`;
  return [
    `${counted(files, "file")} of the store read (${size(bytes)})${unknown}: ${count(damage.length)} damaged`,
    ...damage.map((each) => `  ${damageLine(each)}`),
    ...(damage.length === 0 ? [] : ["pond repair repairs what can be repaired"]),
  ];
}

/** Counts that get a line of their own when they are not zero, worded for one and for several. */
const COUNTED: readonly (readonly [keyof Counts, one: string, several: string])[] = [
  [
    "grown",
    "session has grown since the last sync; what is stored of it is equal, and pond sync imports the rest",
    "sessions have grown since the last sync; what is stored of them is equal, and pond sync imports the rest",
  ],
  [
    "changed",
    "session was rewritten since the last sync; what is stored restores as it was read then, and pond sync imports the new version",
    "sessions were rewritten since the last sync; what is stored restores as it was read then, and pond sync imports the new versions",
  ],
  [
    "held",
    "session is in use or only partly readable; what is stored of it restores as it was read",
    "sessions are in use or only partly readable; what is stored of them restores as it was read",
  ],
  [
    "contained",
    "session was never synced from where it is now, but every record of it is stored",
    "sessions were never synced from where they are now, but every record of them is stored",
  ],
  [
    "restored",
    "session was written by pond restore and has not changed since",
    "sessions were written by pond restore and have not changed since",
  ],
  [
    "waiting",
    "source is incomplete; pond sync imports it when its client continues, or after an hour",
    "sources are incomplete; pond sync imports them when their client continues, or after an hour",
  ],
  [
    "superseded",
    "session has a newer version in another source; that version is stored",
    "sessions have a newer version in another source; that version is stored",
  ],
  [
    "moved",
    "recorded source is on disk under another path",
    "recorded sources are on disk under another path",
  ],
  [
    "gone",
    "recorded source is no longer on disk; pond verify --stored proves what is stored of it",
    "recorded sources are no longer on disk; pond verify --stored proves what is stored of them",
  ],
  [
    "elsewhere",
    "recorded source is on another machine; pond verify --stored proves what is stored of it",
    "recorded sources are on other machines; pond verify --stored proves what is stored of them",
  ],
];

type Counts = Pick<
  ClientVerification,
  | "grown"
  | "changed"
  | "held"
  | "contained"
  | "restored"
  | "waiting"
  | "superseded"
  | "moved"
  | "gone"
  | "elsewhere"
>;

function advice(clients: readonly ClientVerification[]): string[] {
  const sum = (name: keyof ClientVerification & (keyof Counts | "unstored" | "missed" | "unequal")): number =>
    clients.reduce((total, client) => total + client[name], 0);
  const lines = COUNTED.flatMap(([name, one, several]) =>
    sum(name) === 0 ? [] : [`${count(sum(name))} ${sum(name) === 1 ? one : several}`],
  );
  // A full read takes in the others too.
  const command = sum("missed") > 0 ? "pond sync --verify" : "pond sync";
  if (sum("unstored") > 0) lines.unshift(`${count(sum("unstored"))} on disk and not stored: ${command}`);
  if (sum("unequal") > 0)
    lines.unshift(
      `${counted(sum("unequal"), "stored file or session is", "stored files or sessions are")} not as on disk: pond repair reads ${sum("unequal") === 1 ? "it" : "them"} again from the source`,
    );
  return lines;
}
