/** `doctor`: is everything well, and what to do next. Every finding that is not well names its fix. */
import { accessSync, constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { clientsOf, placesThatExist } from "../../adapters/registry.ts";
import type { PondError } from "../../base/errors.ts";
import type { Sentence } from "../../base/sentence.ts";
import { sentence, stepsIn } from "../../base/sentence.ts";
import { errnoOf, isPondError, toPondError } from "../../base/errors.ts";
import type { SessionStore, TableHealth } from "../../sessions/index.ts";
import { checkFiles, remainsOf } from "../../sessions/repair/index.ts";
import { displayUrl } from "../../sessions/peek.ts";
import { knownFaults, lostSources } from "../../state/besides.ts";
import { lastSync } from "../../state/index.ts";
import type { DoctorRequest, Finding } from "../../wire/health.ts";
import type { FileDamage } from "../../wire/verify.ts";
import type { Context } from "../context/context.ts";
import { folderFindings, refusalOf } from "./doctor-folders.ts";
import { damageIn, describeDamage } from "../verify/file-damage.ts";
import { realPathOf } from "../import/importer.ts";
import { lostReport } from "../verify/lost-sources.ts";
import { GONE_FIX, goneMessage, isGone, rememberedSync } from "../context/remembered.ts";
import type { Stale, Sweep } from "../sources/sweep.ts";
import { sweepSources } from "../sources/sweep.ts";
import { vectorFindings } from "./vectors.ts";
import { verifyStored } from "../verify/stored.ts";
import { describeWaits, partedByWaits } from "../sources/waits.ts";

const SYNC = sentence`${{ do: "sync" }}`;
const REPAIR = sentence`${{ do: "repair" }}`;
const READ_AGAIN = sentence`${{ do: "sync" }} reads every source again`;

const LOW_DISK_BYTES = 2_000_000_000;

/** `onFirst` gets what needs no look at the store: one that does not answer takes its time. */
export async function doctor(
  context: Context,
  { deep = false }: DoctorRequest = {},
  onFirst: (findings: readonly Finding[]) => void = () => undefined,
): Promise<readonly Finding[]> {
  const refusal = await refusalOf(context);
  const first = [
    ...(await settingsFindings(context)),
    ...(await diskFindings(context)),
    ...(await folderFindings(context, refusal !== undefined)),
    ...(await adviceFindings(context)),
  ];
  onFirst(first);
  // What is wrong on the disk comes first: opening makes lost indexes again.
  const files = refusal === undefined ? await fileFindings(context, deep) : [];
  const known = refusal ?? (await rememberedSync(context).catch(toPondError));
  const clients = await clientFindings(context, known);
  // Nobody is there: one wait for it is enough.
  const isSilent = known === refusal || (context.address.folder === undefined && isPondError(known));
  const store = isSilent
    ? [failed("store", known)]
    : [
        ...(await storeFindings(context)),
        ...(await proofFindings(context, deep)),
        ...(await remainsFindings(context)),
        ...(await historyFindings(context)),
      ];
  return [...first, ...inOrder([...files, ...clients, ...store])];
}

/** A store that is damaged or gone comes first: no other fix competes with that of the store. */
function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const isDamaged = findings.some(({ fix }) => stepsIn(fix).some((step) => step.do === "repair"));
  const isStoreGone = findings.some(({ fix }) => fix === GONE_FIX);
  if (!isDamaged && !isStoreGone) return findings;
  const first = isDamaged ? "after the repair" : "once the store is back";
  return findings.map((finding) =>
    finding.fix !== undefined && startsWithSync(finding.fix)
      ? { ...finding, fix: sentence`${first}: ${finding.fix}` }
      : finding,
  );
}

function startsWithSync(fix: Sentence): boolean {
  const [first] = typeof fix === "string" ? [] : fix;
  return typeof first === "object" && "do" in first && first.do === "sync";
}

async function settingsFindings({ config }: Context): Promise<Finding[]> {
  const unknown = config.unknownVariables.map((name): Finding => ({
    topic: "settings",
    status: "warn",
    message: `${name} is set, but no setting has that variable`,
    fix: sentence`\`${{ do: "show_settings" }}\` lists the settings; unset the variable or correct its name`,
  }));
  const { path } = config.file;
  const hasFile = await access(path).then(
    () => true,
    () => false,
  );
  const message = hasFile
    ? `read from ${path} and the environment`
    : "no config file; using defaults and the environment";
  return [{ topic: "settings", status: "ok", message }, ...unknown];
}

async function storeFindings(context: Context): Promise<Finding[]> {
  try {
    const store = await context.existingStore();
    if (store === undefined && (await isGone(context)))
      return [{ topic: "store", status: "fail", message: goneMessage(context), fix: GONE_FIX }];
    if (store === undefined)
      return [
        {
          topic: "store",
          status: "warn",
          message: `there is none yet at ${displayUrl(context.address.url)}`,
          fix: SYNC,
        },
      ];
    return await openStoreFindings(store, context);
  } catch (error) {
    return [failed("store", error)];
  }
}

function failed(topic: string, error: unknown): Finding {
  const { message, sentences } = toPondError(error);
  const { hint: fix } = sentences;
  return { topic, status: "fail", message, ...(fix === undefined ? {} : { fix }) };
}

/** The files of a local store: are they there, of the right size, and, where asked, as they were written? */
async function fileFindings({ address, signal }: Context, deep: boolean): Promise<Finding[]> {
  if (address.folder === undefined) return [];
  const checks = await checkFiles(address, { deep, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    return failed("files", error);
  });
  if ("topic" in checks) return [checks];
  if (checks.length === 0) return [];
  const damage = damageIn(checks);
  if (checks.some(({ isCutOff }) => isCutOff))
    return [{ topic: "files", status: "fail", message: CUT_OFF, fix: REPAIR }];
  const files = checks.reduce((sum, each) => sum + each.files, 0);
  const unproven = checks.reduce((sum, each) => sum + each.unsummed + each.late, 0);
  const without =
    unproven === 0
      ? ""
      : `, ${unproven} of them without a checksum from when ${unproven === 1 ? "it was" : "they were"} written`;
  const condition = deep ? `read and as they were written${without}` : "there, of the right size";
  const [first, ...others] = damage.toSorted((a, b) => Number(isMinor(a)) - Number(isMinor(b)));
  if (first === undefined)
    return [
      { topic: "files", status: "ok", message: `${files} ${files === 1 ? "file" : "files"}: ${condition}` },
    ];
  const finding = { topic: "files", status: isMinor(first) ? "warn" : "fail", fix: REPAIR } as const;
  if (others.length === 0) return [{ ...finding, message: describeDamage(first) }];
  const left = damage.length - MOST_DAMAGE;
  const details = [first, ...others].slice(0, MOST_DAMAGE).map(describeDamage);
  if (left > 0) details.push(`and ${left} more ${left === 1 ? "file" : "files"}`);
  return [{ ...finding, message: `${damage.length} files are damaged`, details }];
}

/** No row of the newest version is lost with it. */
const isMinor = ({ is_old, holds }: FileDamage): boolean => is_old || holds === "index";

const CUT_OFF = "a repair was cut off: rows that it took out of damaged files are not stored yet";
const MOST_DAMAGE = 5;

async function openStoreFindings(store: SessionStore, context: Context): Promise<Finding[]> {
  const tables = await store.health();
  // Rows, of which people see fewer: versions and other ends are among them.
  const rows = tables
    .map(({ table, facts }) => `${facts.rows} ${facts.rows === 1 ? "row" : "rows"} of ${table}`)
    .join(", ");
  const findings: Finding[] = [
    { topic: "store", status: "ok", message: `${displayUrl(context.address.url)}: ${rows}` },
  ];
  for (const { kind, message } of store.recoveryIssues())
    findings.push(
      kind === "index"
        ? { topic: "indexes", status: "ok", message: `${message} had lost files and was rebuilt` }
        : { topic: "store", status: "warn", message, fix: READ_AGAIN },
    );
  return [...findings, ...tables.map(indexFinding), ...(await vectorFindings(context, store))];
}

function indexFinding({ table, due }: TableHealth): Finding {
  const [first] = due;
  if (first === undefined) return { topic: "indexes", status: "ok", message: `${table}: nothing is due` };
  return {
    topic: "indexes",
    status: "warn",
    message: `${table}: ${due.length} ${due.length === 1 ? "action is" : "actions are"} due (${first.kind}: ${first.reason}); answers are complete, but slower`,
    fix: sentence`${{ do: "sync", stages: "update-indexes" }}`,
  };
}

async function diskFindings({ address }: Context): Promise<Finding[]> {
  if (address.folder === undefined) return [];
  for (let folder = address.folder; ; folder = dirname(folder)) {
    const stats = await statfs(folder).catch(() => undefined);
    if (stats === undefined && folder !== dirname(folder)) continue;
    if (stats === undefined) return [];
    const free = stats.bavail * stats.bsize;
    const message = `${(free / 1e9).toFixed(1)} GB are free where the store is`;
    if (free >= LOW_DISK_BYTES) return [{ topic: "disk", status: "ok", message }];
    return [
      { topic: "disk", status: "warn", message, fix: "free some space, or move the store (storage.url)" },
    ];
  }
}

/** Whether what is stored is what was read: by a proof now, or by what the last one found. */
async function proofFindings(context: Context, deep: boolean): Promise<Finding[]> {
  if (deep && (await context.existingStore().catch(() => undefined)) !== undefined)
    try {
      await verifyStored(context, {});
    } catch (error) {
      context.signal.throwIfAborted();
      return [{ topic: "store", status: "fail", message: toPondError(error).message, fix: REPAIR }];
    }
  const known = knownFaults(context.config.paths.state, context.address);
  if (known === undefined) return recoveredFindings(context);
  const when = new Date(known.at).toISOString().slice(0, 16).replace("T", " ");
  const stored =
    known.sessions === 1
      ? "session is not stored as it was read"
      : "sessions are not stored as they were read";
  const message = `${known.sessions} ${stored} (checked ${when} UTC)`;
  return [{ topic: "store", status: "fail", message, fix: PROOF_FIX }];
}

/** What a repair could only put together: nothing is wrong with it, and something of it is lost. */
async function recoveredFindings(context: Context): Promise<Finding[]> {
  const store = await context.existingStore().catch(() => undefined);
  const sessions = (await store?.countRecovered().catch(() => 0)) ?? 0;
  if (sessions === 0) return [];
  const rows = sessions === 1 ? "the row of 1 session was" : `the rows of ${sessions} sessions were`;
  const message = `${rows} lost and rebuilt from their messages, or could only be read from a damaged file: nothing proves which sessions were their parents`;
  return [
    {
      topic: "store",
      status: "warn",
      message,
      fix: sentence`put their sources back, then ${{ do: "repair" }}`,
    },
  ];
}

/** A table was lost, and a repair could not do without what is left of it. */
async function remainsFindings({ address }: Context): Promise<Finding[]> {
  return (await remainsOf(address)).map((path) => ({
    topic: "store",
    status: "fail",
    message: `a table was lost, and not everything that is stored is proven without it; what is left of it is in ${path}`,
    fix: sentence`put the sources of its sessions back and run ${{ do: "repair" }}, or put a backup of the store in place; to accept the loss, delete that folder`,
  }));
}

const PROOF_FIX = sentence`${{ do: "verify", stored: true }} names them and their sources: put those back and run ${{ do: "repair" }}, or put a backup of the store in place`;

/** Whether the store has what this machine stored in it. */
async function historyFindings(context: Context): Promise<Finding[]> {
  // What cannot be looked at was told of above.
  const known = await rememberedSync(context).catch(() => "none" as const);
  if (known === "gone back") {
    const message = "it lacks what was stored in it before: an older copy is in its place, or rows were lost";
    return [{ topic: "store", status: "warn", message, fix: READ_AGAIN }];
  }
  if (known === "unnamed") {
    const message =
      "it has lost its identity (pond_store.lance), by which machines know what they stored in it";
    return [
      {
        topic: "store",
        status: "warn",
        message,
        fix: sentence`${{ do: "sync" }} gives it a new one and reads every source again`,
      },
    ];
  }
  if (typeof known === "string") return [];
  if (!known.isSettled) return [{ topic: "store", status: "warn", message: UNSETTLED, fix: SYNC }];
  const { state } = context.config.paths;
  // A look at the list alone: most stores miss nothing, and need not be opened for it.
  if (lostSources(state, known.name).length === 0) return [];
  const store = await context.existingStore().catch(() => undefined);
  const lost = store && (await lostReport(context, store, known));
  return lost === undefined ? [] : [{ topic: "store", status: "warn", message: lost.message, fix: lost.fix }];
}

const UNSETTLED =
  "another copy of it was in its place at the last sync, or that sync was cut off: it is not known yet whether all is stored";

/** `known`: what is remembered of the store, or why it cannot be looked at. */
async function clientFindings(
  context: Context,
  known: Awaited<ReturnType<typeof rememberedSync>> | PondError,
): Promise<Finding[]> {
  const remembered = typeof known === "string" || isPondError(known) ? undefined : known;
  const synced = remembered && lastSync(context.config.paths.state, remembered.name);
  await using swept = await sweepSources(context, {}, remembered?.cursors);
  const sweeps = swept.clients;
  if (sweeps.length === 0)
    return [
      {
        topic: "clients",
        status: "warn",
        message: "no client's sessions were found on this machine",
        fix: sentence`\`${{ do: "adapters" }}\` lists the places pond reads; name another place with \`${{ do: "sync", adapters: { choose: "client" }, paths: { choose: "folder" } }}\``,
      },
    ];
  const unread = await Promise.all(sweeps.map((sweep) => unreadPlaces(context, sweep)));
  return sweeps.flatMap(({ adapter, seen, stale: changed, issues: found }, at): Finding[] => {
    const byAccess = Map.groupBy(changed, isClosed);
    const closed = byAccess.get(true) ?? [];
    const now = context.clock.now();
    const { ready: stale, waiting } = partedByWaits(byAccess.get(false) ?? [], synced?.waits ?? [], now);
    const issues = [
      ...found,
      ...closed.map(({ unit }) => ({ path: unit.files[0]?.path ?? unit.key, message: CLOSED })),
    ];
    const some = isPondError(known)
      ? "only the store knows what is new"
      : `${stale.length} of them to read${waiting.length === 0 ? "" : `, ${waiting.length} waiting`}`;
    const message = `${adapter.title}: ${seen} ${seen === 1 ? "source" : "sources"}, ${some}`;
    const details = waiting.length === 0 ? {} : { details: describeWaits(waiting, now) };
    const freshness: Finding =
      stale.length === 0 || isPondError(known)
        ? { topic: "clients", status: "ok", message, ...details }
        : { topic: "clients", status: "warn", message, ...details, fix: SYNC };
    const findings = [freshness, ...(unread[at] ?? [])];
    const [first] = issues;
    if (first === undefined) return findings;
    const more = issues.length === 1 ? "" : ` (and ${issues.length - 1} more)`;
    const trouble = `${adapter.title}: ${first.path}: ${first.message}${more}`;
    const fix = sentence`make it readable, or correct the settings (\`${{ do: "show_settings" }}\` names their file)`;
    return [...findings, { topic: "clients", status: "warn", message: trouble, fix }];
  });
}

const CLOSED = "you have no permission to read it, so no sync can";

/** A source of which a file may not be read. */
function isClosed({ unit }: Stale): boolean {
  try {
    for (const { path } of unit.files) accessSync(path, constants.R_OK);
    return false;
  } catch (error) {
    // One that is gone meanwhile is not there to be read.
    return errnoOf(error) === "EACCES" || errnoOf(error) === "EPERM";
  }
}

/** Places of the client's own that the settings leave out: what it writes there is in no store. */
async function unreadPlaces({ machine }: Context, { adapter, places }: Sweep): Promise<readonly Finding[]> {
  const own = await placesThatExist(adapter.defaultPlaces(machine));
  const read = new Set(places.map(({ place }) => realPathOf(place.path)));
  return own
    .filter(({ path }) => !read.has(realPathOf(path)))
    .map(({ path }) => ({
      topic: "clients",
      status: "warn",
      message: `${adapter.title}: ${path} is the client's default place, but it is not read: the settings name others`,
      fix: sentence`add it to adapters.${adapter.name}.paths (\`${{ do: "show_settings" }}\` names the file)`,
    }));
}

async function adviceFindings(context: Context): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { advise } of clientsOf(context))
    for (const { message, fix, isUrgent } of (await advise?.(context.machine)) ?? [])
      findings.push(
        isUrgent
          ? { topic: "retention", status: "warn", message, fix }
          : { topic: "retention", status: "ok", message: `${message}; ${fix}` },
      );
  return findings;
}
