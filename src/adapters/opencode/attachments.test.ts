/** Pictures and other files that a tool attached to its result, in other clients (spec.md#adapter-restore-context). */
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../base/json/json.ts";
import { replay } from "../../model/events/index.ts";
import { lineagesOf, readFolder } from "../../../test/support/adapter-run.ts";
import { tempDir } from "../../../test/support/temp-dir.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { adapterNamed } from "../registry.ts";
import type { Restored } from "../kit/restore/index.ts";
import { contextOf } from "./restore/context.ts";

const PNG = "iVBORw0KGgo=";
const SESSION = "ses_5e551000fffeAttachments01";
const time = { start: 1_747_000_000_000, end: 1_747_000_000_000 };

/** As opencode's export tells it: one call of `read` that attached something. */
async function restoredTo(client: string, attachments: readonly { mime: string; url: string }[]) {
  await using box = await tempDir();
  const own = (id: string, kind = "prt") => ({
    id: `${kind}_00000000000${id}Attachments01`,
    sessionID: SESSION,
  });
  const model = { providerID: "anthropic", modelID: "scripted" };
  const created = { created: time.start, completed: time.end };
  const state = {
    status: "completed",
    input: { filePath: "/srv/garden.png" },
    output: "Image read successfully",
    title: "",
    metadata: {},
    time,
    attachments: attachments.map((file) => ({ type: "file", ...file, ...own("7"), messageID: own("3").id })),
  };
  const value = {
    info: { id: SESSION, directory: "/srv", title: "T", version: "1.18.33", time: { created: time.start } },
    messages: [
      {
        info: { ...own("1", "msg"), role: "user", time: created, agent: "build", model },
        parts: [{ ...own("2"), messageID: own("1", "msg").id, type: "text", text: "Look at it" }],
      },
      {
        info: {
          ...own("3", "msg"),
          role: "assistant",
          time: created,
          parentID: own("1", "msg").id,
          ...model,
        },
        parts: [
          { ...own("4"), messageID: own("3", "msg").id, type: "tool", callID: "c1", tool: "read", state },
          { ...own("5"), messageID: own("3", "msg").id, type: "text", text: "Roses." },
        ],
      },
    ],
  };
  mkdirSync(box.path, { recursive: true });
  writeFileSync(join(box.path, `${SESSION}.json`), JSON.stringify(value));
  const runs = await readFolder(adapterNamed("opencode")!, box.path);
  const [lineage] = lineagesOf(replay(runs.flatMap(({ events }) => events)));
  const { restore } = adapterNamed(client)!;
  if (restore.kind !== "supported") throw new Error("not supported");
  return restore.serialize(lineage!, {
    fidelity: "foreign",
    layout: "client",
    mapPath: (path) => path,
    now: 0,
    context: contextOf,
  });
}

/** What stands in the place of the result. */
function resultIn({ files }: Restored): JsonValue | undefined {
  const records = files.flatMap((file) => (file.kind === "jsonl" ? file.records : []));
  for (const record of records) {
    const text = JSON.stringify(record);
    if (!text.includes("Image read successfully")) continue;
    const { message, payload } = JSON.parse(text) as Record<string, Record<string, JsonValue>>;
    const content = (payload?.["output"] ?? message?.["content"]) as readonly Record<string, JsonValue>[];
    return content[0]?.["type"] === "tool_result" ? content[0]["content"] : content;
  }
  return undefined;
}

const TEXT = { type: "text", text: "Image read successfully" };

describe.each([
  ["claude-code", [TEXT, { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }]],
  [
    "codex-cli",
    [
      { type: "input_text", text: TEXT.text },
      { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
    ],
  ],
  ["pi", [TEXT, { type: "image", data: PNG, mimeType: "image/png" }]],
])("in %s", (client, blocks) => {
  test("a picture stands in the result of its tool", async () => {
    const restored = await restoredTo(client, [{ mime: "image/png", url: `data:image/png;base64,${PNG}` }]);
    expect(resultIn(restored)).toEqual(blocks);
    expect(restored.losses.filter(({ affects }) => affects === "model")).toEqual([]);
  });

  test("a document in a result is lost, and told as that", async () => {
    const restored = await restoredTo(client, [
      { mime: "application/pdf", url: `data:application/pdf;base64,${PNG}` },
    ]);
    expect(restored.losses.filter(({ affects }) => affects === "model")).toMatchObject([
      { what: "file in a tool result", why: expect.stringContaining("takes only pictures there"), count: 1 },
    ]);
  });
});

test("a picture that Claude Code does not take is lost, and the text is not", async () => {
  const restored = await restoredTo("claude-code", [
    { mime: "image/avif", url: `data:image/avif;base64,${PNG}` },
  ]);
  expect(resultIn(restored)).toEqual(TEXT.text);
  expect(restored.losses.filter(({ affects }) => affects === "model")).toMatchObject([
    { what: "file in a tool result", why: "Claude Code takes none of type image/avif", count: 1 },
  ]);
});
