/**
 * What a client's model was sent goes along at every further hop (spec.md#adapter-restore-context): also what other clients and
 * people's commands told the model before, which the client in the middle knows only as texts that pond wrote there.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { restore, sync } from "../../src/handlers/index.ts";
import type { SessionId } from "../../src/model/index.ts";
import { sessionId } from "../../src/model/index.ts";
import type { RestoreRecord } from "../../src/sessions/index.ts";
import { carryOn, carryOnOpencode, importIntoOpencode } from "../support/restored-story.ts";
import { story, textPart } from "../support/story.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";

const CLIENTS = ["claude-code", "codex-cli", "opencode", "pi"] as const;

const put = (text: string, kind: string) => ({
  ...textPart(text, "injected"),
  options: { pond: { injected: kind } },
});

/** By the words that only it says: which kind of text it is; null for what a person or the model said. */
const KINDS: Readonly<Record<string, string | null>> = {
  zebrafish: null,
  quokka: "task-notification",
  narwhal: "hook",
  pangolin: "command",
  okapi: "shell",
  axolotl: "ide",
  lemur: null,
  wombat: null,
  numbat: "agent-message",
  echidna: null,
  platypus: null,
};

/** Texts of every hand, some of which look like those that another client writes for its own model. */
const ORIGIN = story("notes", { agent: "elsewhere", project: "/srv/app" })
  .user("How does the zebrafish retry?")
  .message("user", [put("<task-notification>found the quokka</task-notification>", "task-notification")])
  .message("user", [put("<system-reminder>hook says: narwhal</system-reminder>", "hook")])
  .message("user", [put("<environment_context>ran pangolin</environment_context>", "command")])
  .message("user", [put("okapi: command not found", "shell")])
  .assistant("With jitter.")
  .message("user", [put("The open file is axolotl.ts", "ide"), textPart("Is the lemur in it?")])
  .assistant("No.")
  .message("user", [textPart("And the wombat?"), put("An agent says: numbat", "agent-message")])
  .assistant("Neither.")
  .user("<system-reminder>typed, with the echidna</system-reminder>")
  .assistant("Ask the platypus.");

/** Restored into a client, carried on there and synced: the session that it became. */
async function handOn({ context, home }: TempContext, session: string, client: string): Promise<SessionId> {
  const { files, resume } = await restore(context, { session_id: session, to: client });
  const log = files[0]?.path ?? "";
  if (client === "opencode") {
    importIntoOpencode(home, log);
    carryOnOpencode(home, resume.id, "Once more?");
  } else carryOn(client, log, "Once more?");
  await sync(context, {});
  return sessionId(resume.id);
}

/** What a restore into another client writes, and what the model loses there. */
async function restoredTo(context: Context, session: string, client: string, out: string) {
  const { files, losses } = await restore(context, { session_id: session, to: client, out });
  const lost = losses.filter(({ affects }) => affects === "model").map(({ what, why }) => `${what}: ${why}`);
  return { text: files.map(({ path }) => readFileSync(path, "utf8")).join("\n"), lost };
}

const kindsIn = async (context: Context, session: SessionId): Promise<Record<string, string | null>> => {
  const state = await (await context.store()).state(session);
  const found: Record<string, string | null> = {};
  for (const { parts } of state?.messages ?? [])
    for (const part of parts)
      for (const word of Object.keys(KINDS)) {
        if (part.type !== "text" || part.text?.includes(word) !== true) continue;
        const pond = part.options["pond"] as { readonly injected?: string } | undefined;
        found[word] = part.provenance === "injected" ? (pond?.injected ?? "none") : null;
      }
  return found;
};

describe.each(CLIENTS)("through %s", (middle) => {
  const others = CLIENTS.filter((client) => client !== middle);

  test("all that its model was sent goes along, as what it was", async () => {
    await using temp = await tempContext();
    await temp.ingest(ORIGIN.events());
    const session = await handOn(temp, "notes", middle);
    expect(await kindsIn(temp.context, session)).toEqual(KINDS);
    for (const target of others) {
      const { text, lost } = await restoredTo(temp.context, session, target, join(temp.home, target));
      expect([target, lost]).toEqual([target, []]);
      for (const word of Object.keys(KINDS)) expect(text).toContain(word);
    }
  });
});

test.each(["codex-cli", "opencode"])(
  "so does what an older pond noted and stored without its kind, through %s",
  async (middle) => {
    await using temp = await tempContext();
    const { context, home } = temp;
    await temp.ingest(ORIGIN.events());
    const store = await context.store();
    const record = store.recordRestores.bind(store);
    vi.spyOn(store, "recordRestores").mockImplementation((records) => record(records.map(asBefore)));
    const session = await handOn(temp, "notes", middle);
    const { text, lost } = await restoredTo(context, session, "pi", join(home, "pi"));
    expect(lost).toEqual([]);
    for (const word of Object.keys(KINDS)) expect(text).toContain(word);
  },
);

/** A pond before said of a message that its client wrote it, and not what of it. */
function asBefore(record: RestoreRecord): RestoreRecord {
  const messages = [...record.messages].map(([id, said]) => {
    if (said === null) return [id, null] as const;
    const { kinds: _, ...before } = said;
    return [id, before] as const;
  });
  return { ...record, messages: new Map(messages) };
}

test("a session that went through all clients still says it all", async () => {
  await using temp = await tempContext();
  await temp.ingest(ORIGIN.events());
  let session = "notes";
  for (const client of ["codex-cli", "pi", "opencode", "claude-code"])
    session = await handOn(temp, session, client);
  expect(await kindsIn(temp.context, sessionId(session))).toEqual(KINDS);
  const { text, lost } = await restoredTo(temp.context, session, "codex-cli", join(temp.home, "end"));
  expect(lost).toEqual([]);
  for (const word of Object.keys(KINDS)) expect(text).toContain(word);
});
