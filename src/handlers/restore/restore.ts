/**
 * `restore`: a stored session and its descendants as files of a client (spec.md#adapter-restore). The whole lineage or
 * nothing; no file is ever overwritten; what was written is read back and compared before it is given its place.
 */
import { brandOf } from "../../model/derived/index.ts";
import { sessionsIn } from "../../model/tree/index.ts";
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Adapter, Place } from "../../adapters/index.ts";
import { clientNamed, clientsOf } from "../../adapters/registry.ts";
import type { ContextRule, Restored } from "../../adapters/restore.ts";
import { placesThatExist } from "../../adapters/index.ts";
import { printFile } from "../../adapters/restore.ts";
import { isPondError, PondError } from "../../base/errors.ts";
import { isFolder } from "../../base/files/folders.ts";
import { sentence } from "../../base/sentence.ts";
import { nearest } from "../../base/nearest.ts";
import type { Session } from "../../model/index.ts";
import type { SessionStore } from "../../sessions/index.ts";
import { checkFiles } from "../../sessions/repair/index.ts";
import { readLineage, SESSIONS } from "../../sessions/index.ts";
import type { RestoreReport, RestoreRequest, ResumeReport, WrittenFile } from "../../wire/restore.ts";
import type { Context } from "../context/context.ts";
import { requireStore } from "../context/existing.ts";
import { noSession } from "../context/find.ts";
import { realPathOf } from "../import/importer.ts";
import { knownRestores } from "../import/known-restores.ts";
import { pathMap } from "./path-map.ts";
import { proveLineage } from "../verify/prove-lineage.ts";
import type { Use } from "./already.ts";
import { useOf } from "./already.ts";
import type { RestoredSession } from "./check.ts";
import { checkRestored } from "./check.ts";
import { directoryWritten } from "./copy.ts";
import { mappedFiles, remember, rememberFiles, restoredAlready, restoredBefore } from "./note.ts";
import { chosenState, describeState, isEarlierState } from "./choice.ts";
import { checkTargets, writeFiles } from "./files/files.ts";
import { previewFiles } from "./files/preview.ts";
import { nowhere, Refusals, refusedBy, toResume } from "./refusals.ts";
import { resumeIn } from "./resume.ts";
import { restoreTokens } from "./tokens.ts";
import { timesOf } from "./files/times.ts";
import { namedPath } from "../sources/sources.ts";

export interface RestoreHooks {
  /** Called before anything is written, with how the session will be resumed: why it cannot be, where that is so. */
  readonly whyNot?: (resume: ResumeReport) => PondError | undefined;
}

export async function restore(
  context: Context,
  request: RestoreRequest,
  hooks: RestoreHooks = {},
): Promise<RestoreReport> {
  // The request first: what is wrong with it is wrong whatever is stored.
  const target = request.to === undefined ? undefined : requireTarget(context, request.to);
  const paths = pathMap(request.map_paths ?? [], context.machine.home);
  const store = await requireStore(context);
  const { session, copyIn } = await askedFor(store, request.session_id);
  const choice = await chosenState(store, session, { ...request, home: context.machine.home });
  const read = await readLineage(store, session.id, choice);
  const { lineage, shown } = read;
  const brand = brandOf(lineage.state.session.source_agent);
  const isResume = hooks.whyNot !== undefined;
  const adapter = target ?? ownTarget(context, session, { brand: copyIn ?? brand, isResume });
  const { dry_run: isDryRun = false, reuse: canReuse = false } = request;
  const refusals = new Refusals(isDryRun);
  const places = adapter.defaultPlaces(context.machine);
  // On a machine where the client was never started its place is made.
  const place = (await placesThatExist(places))[0] ?? places[0];
  const named = request.out === undefined ? undefined : namedPath(request.out, context.machine.home);
  if (request.out !== undefined) refusals.add(await notAFolder(request.out, named ?? ""));
  const fidelity = brand === adapter.name ? "native" : "foreign";
  if (fidelity === "foreign") refuseForeign(context, adapter);
  await refuseDamage(context);
  const proof = await proveLineage(context, store, read);
  const now = context.clock.now();
  const origin = clientNamed(context, brand);
  const rule = await contextOf(origin);
  const serialized = (mapPath: (path: string) => string): Promise<Restored> =>
    adapter.restore.serialize(lineage, {
      fidelity,
      layout: "client",
      mapPath,
      now,
      context: fidelity === "native" ? undefined : rule,
    });
  const restored = await serialized(paths.map);
  const { machine, signal } = context;
  const out = named ?? defaultFolder(context, { adapter, place, restored, request });
  const times = await timesOf({ adapter, place, lineage, restored, now });
  const state = shown.get(session.id);
  const described = state && describeState(state, await mappedFiles(store, session.id));
  const isEarlier = choice.size > 0 && isEarlierState(described);
  // Where it goes to no place of the client, the client does not see it.
  const isSeen = named === undefined || named === place?.path;
  const use: Use = isSeen
    ? await useOf(context, {
        store,
        adapter,
        places,
        session,
        lineage,
        out,
        isOutNamed: named !== undefined,
        restored,
        unmapped: () => serialized((path) => path),
        isMapped: paths.isUsed(),
        canReuse,
        isAsIs: copyIn === adapter.name,
        isEarlier,
      })
    : { kind: "write" };
  if (use.kind === "refuse") refusals.add(use.error);
  const resumeWith = (written: readonly WrittenFile[]): ResumeReport =>
    resumeIn(out, asOpened(restored.resume, use), {
      files: written,
      place: place?.path,
      title: adapter.title,
      recorded: session.project,
      isImported: use.kind === "open",
      ...(use.kind === "open" && !use.isListed ? { openAt: use.file?.path } : {}),
    });
  if (use.kind === "write" && canReuse && named === undefined && restored.resume.imports !== undefined) {
    const map_paths =
      (request.map_paths ?? []).length > 0
        ? []
        : await mappedBefore(context, store, { session, adapter, out });
    if (map_paths.length > 0) return restore(context, { ...request, map_paths }, hooks);
  }
  const last = restored.logs.find((log) => log.session === session.id)?.path;
  const again = { session: session.id, adapter, out };
  const before = use.kind === "write" ? await restoredBefore(context, store, again) : undefined;
  // What is to be reused must be the file that would be written.
  const isReused = canReuse && before?.path === join(realPathOf(out), last ?? "");
  if (before !== undefined && !isReused) {
    const copies = await knownRestores(store, adapter.name);
    const root = copies.find((copy) => copy.session === before.session)?.root ?? before.session;
    refusals.add(restoredAlready(again, { head: before, isSeen, root }));
  }
  refusals.add(hooks.whyNot?.(resumeWith([])));
  const [missing] = use.kind === "write" ? paths.missing() : [];
  if (canReuse && missing !== undefined) refusals.add(nowhere(missing));
  // What was there already and is only used may be the client's own.
  const newIn = (files: readonly WrittenFile[]): readonly WrittenFile[] =>
    canReuse ? files.filter(({ kept }) => !kept) : files;
  let isRecorded = true;
  const writing = {
    out,
    times: times.byPath,
    isClients: out === place?.path,
    mayBeThere: canReuse,
    mayBeLonger: canReuse && !isEarlier,
    files: restored.files,
    last,
    check: (staged: string) =>
      checkRestored(staged, { adapter, machine, lineage, restored, now, isMapped: paths.isUsed() }),
    beforeMoving: async (checked: readonly RestoredSession[], files: readonly WrittenFile[]) => {
      const isNew = new Set(newIn(files).map(({ path }) => path));
      const sessions = checked.filter(({ path }) => isNew.has(join(out, path)));
      if (sessions.length > 0) isRecorded = await remember(context, store, { adapter, out, sessions });
    },
    signal,
  };
  const explain = canReuse ? toResume : (error: PondError): PondError => error;
  if (isDryRun && use.kind === "write") refusals.add(await refusalOf(checkTargets(writing), explain));
  const { files } =
    use.kind === "open"
      ? { files: use.file === undefined ? [] : [use.file] }
      : isDryRun
        ? { files: await previewFiles(writing) }
        : await writeFiles(writing).catch((error: unknown) => {
            throw isPondError(error) ? explain(error) : error;
          });
  if (!isDryRun) rememberFiles(context, newIn(files));
  return {
    session_id: session.id,
    to: adapter.name,
    ...(isDryRun ? { dry_run: true as const } : {}),
    ...(refusals.first === undefined ? {} : { refused: refusedBy(refusals.first) }),
    fidelity,
    out,
    sessions: [...sessionsIn(lineage)].length,
    ...proof,
    files,
    losses: restored.losses,
    tokens: restoreTokens(lineage.state, { context: rule, fidelity, origin }),
    ...(times.deleted_after_days === undefined || files.every(({ kept }) => kept)
      ? {}
      : { deleted_after_days: times.deleted_after_days }),
    ...(isRecorded ? {} : { is_unrecorded: true as const }),
    unused_map_paths: paths.unused(),
    missing_map_paths: paths.missing().map(({ folder }) => folder),
    ...(described === undefined ? {} : { state: described }),
    resume: resumeWith(isDryRun ? [] : files),
  };
}

interface AskedFor {
  readonly session: Session;
  /** The client that has the copy by whose id it was asked for. */
  readonly copyIn?: string;
}

/** A stored session, or the one behind a copy that pond restored and nobody carried on. */
async function askedFor(store: SessionStore, id: string): Promise<AskedFor> {
  const stored = await store.session(id);
  if (stored !== undefined) return { session: stored };
  const [head] = await store.restoredBeginning(id);
  const origin = head?.session === id ? await store.session(head.from) : undefined;
  if (head === undefined || origin === undefined) throw await noSession(store, id);
  return { session: origin, copyIn: head.adapter };
}

/** What is there is resumed where it works. */
function asOpened(resume: Restored["resume"], use: Use): Restored["resume"] {
  return use.kind === "open" && use.directory !== undefined
    ? { ...resume, directory: use.directory }
    : resume;
}

/** What something is refused for, which is no fault. */
async function refusalOf(
  trying: Promise<unknown>,
  explain: (error: PondError) => PondError,
): Promise<PondError | undefined> {
  try {
    await trying;
    return undefined;
  } catch (error) {
    if (isPondError(error) && error.code !== "internal") return explain(error);
    throw error;
  }
}

/** Who belongs to a session is in rows that no digest covers: the files that hold them must be as they were written. */
async function refuseDamage({ address, signal }: Context): Promise<void> {
  const checks = await checkFiles(address, { deep: true, only: "rows", tables: [SESSIONS.name], signal });
  const [damage] = checks.flatMap((check) => check.damage).filter(({ isCurrent }) => isCurrent);
  if (damage === undefined) return;
  throw new PondError(
    "storage_unavailable",
    `${damage.file} of the table ${damage.table} is not as it was written (${damage.what})`,
    { reason: "corrupt", hint: sentence`nothing was written; run ${{ do: "repair" }}`, data: { ...damage } },
  );
}

/** What the model of the client that wrote a session still had; all of it where that is not known. */
async function contextOf(origin: Adapter | undefined): Promise<ContextRule | undefined> {
  return origin?.restore.kind === "supported" ? origin.restore.context() : undefined;
}

type Target = Adapter & { readonly restore: { readonly kind: "supported" } };

function requireTarget(context: Context, name: string): Target {
  const adapter = clientNamed(context, name);
  const names = clientsOf(context).flatMap((target) => (isTarget(target) ? target.name : []));
  // People call Codex codex, and slip in that.
  const short = (client: string): string => client.split("-")[0] ?? client;
  const guess = nearest(name, names) ?? names.find((each) => nearest(name, [short(each)]) !== undefined);
  const meant = guess === undefined ? "" : `did you mean ${guess}? `;
  if (adapter === undefined)
    throw new PondError("validation_failed", `there is no client named ${name}`, {
      hint: `${meant}the clients are ${names.join(", ")}`,
      data: { field: "to", value: name },
    });
  if (isTarget(adapter)) return adapter;
  const instead = adapter.restore.kind === "unsupported" ? adapter.restore.instead : "";
  throw new PondError("validation_failed", `sessions cannot be restored into ${adapter.title}`, {
    reason: "unsupported",
    hint: instead,
  });
}

/** The client that a session is of, where nobody said into which it goes. A program's is of none. */
function ownTarget(
  context: Context,
  { id: session_id, source_agent }: Session,
  asked: { readonly brand: string; readonly isResume: boolean },
): Target {
  if (clientNamed(context, asked.brand) !== undefined) return requireTarget(context, asked.brand);
  const step = { session_id, to: { choose: "client" } } as const;
  const next = asked.isResume ? ({ do: "resume", ...step } as const) : ({ do: "restore", ...step } as const);
  throw new PondError(
    "validation_failed",
    `session ${session_id} is of ${source_agent}, which is not a client that pond knows`,
    {
      hint: sentence`say into which client it goes, with ${next}: ${foreignTargets(context)}`,
      data: { field: "to" },
    },
  );
}

/** The clients that take sessions of others. */
const foreignTargets = (context: Context): string =>
  clientsOf(context)
    .filter(({ restore: into }) => into.kind === "supported" && into.insteadOfForeign === undefined)
    .map(({ name }) => name)
    .join(", ");

function refuseForeign(context: Context, { title, restore: { insteadOfForeign } }: Target): void {
  if (insteadOfForeign === undefined) return;
  const message = `only sessions of ${title} can be restored into ${title}`;
  const hint = `${insteadOfForeign}; sessions of any client go into ${foreignTargets(context)}`;
  throw new PondError("validation_failed", message, { reason: "unsupported", hint });
}

function isTarget(adapter: Adapter): adapter is Target {
  return adapter.restore.kind === "supported";
}

/**
 * The client's own place; for files that it takes in by a command a folder of pond's, which no sync reads
 * (spec.md#adapter-restore-place).
 */
function defaultFolder(
  { config }: Context,
  {
    adapter,
    place,
    restored,
    request,
  }: {
    readonly adapter: Adapter;
    readonly place: Place | undefined;
    readonly restored: Restored;
    readonly request: RestoreRequest;
  },
): string {
  if (restored.resume.imports !== undefined) {
    const folder = join(config.paths.data, "restores", adapter.name);
    // The client has taken in what an earlier run wrote there: another state of the session is another file.
    return request.reuse === true ? join(folder, contentName(restored)) : folder;
  }
  if (place !== undefined) return place.path;
  throw new PondError("not_found", `${adapter.title} has no place for sessions on this machine`, {
    hint: sentence`name the folder to restore into with ${{ field: "out" }}`,
  });
}

/**
 * The directory that a session worked in is not here, and it was restored with another one: that holds until its client has
 * imported it, too, and can tell by itself.
 */
async function mappedBefore(
  context: Context,
  store: SessionStore,
  { session, adapter, out }: { readonly session: Session; readonly adapter: Target; readonly out: string },
): Promise<readonly string[]> {
  const { project } = session;
  // Of a rule the first = ends what is mapped.
  if (isFolder(project) || project.includes("=")) return [];
  const before = await restoredBefore(context, store, { session: session.id, adapter, out: dirname(out) });
  const directory = before && (await directoryWritten(context, adapter, before));
  return directory === undefined || directory === project || !isFolder(directory)
    ? []
    : [`${project}=${directory}`];
}

/** The same for the same content. */
function contentName({ files }: Restored): string {
  const digest = createHash("sha256");
  for (const file of files) digest.update(`${file.path}\0`).update(printFile(file));
  return digest.digest("hex").slice(0, 12);
}

/** It need not be there yet. */
async function notAFolder(named: string, path: string): Promise<PondError | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || stats.isDirectory()) return undefined;
  return new PondError("validation_failed", sentence`${{ field: "out" }} ${named} is a file`, {
    hint: "name a folder",
    data: { field: "out", value: named, path },
  });
}
