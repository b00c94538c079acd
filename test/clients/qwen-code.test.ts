/** The real Qwen Code resumes what pond restored: the request it sends to the model carries the history. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterNamed } from "../../src/adapters/index.ts";
import { replay } from "../../src/model/events/index.ts";
import { readFolder } from "../support/adapter-run.ts";
import { tempDir } from "../support/temp-dir.ts";
import { captured } from "./captured.ts";
import { expectInOrder } from "./history.ts";
import { goOn, isMissing, PROMPT, qwenCode } from "./real-clients.ts";
import type { Sent } from "./requests.ts";
import { sentBy } from "./requests.ts";

const place = "qwen-code/projects";

describe.skipIf(isMissing(qwenCode))("the real Qwen Code", () => {
  test("resumes a compressed session from its summary, with the calls and turns after it", async () => {
    const lineage = await captured({ place, id: "6e580a6d-18fa-4cd9-a8ba-4b9c365437b8" });
    await using box = await tempDir();
    const run = await goOn(qwenCode, lineage, { folder: box.path, fidelity: "native" });
    const lines = sentBy(run, PROMPT).map(lineOf);
    expectInOrder(lines, [
      "user: <state_snapshot>An orchard of apple and pear.</state_snapshot>",
      "user: Let a helper count",
      "call: agent",
      "result: Forty leaves.",
      "assistant: The helper counted forty.",
      "user: And tomorrow?",
      `user: ${PROMPT}`,
    ]);
    expect(lines.join("\n")).not.toContain("Which trees grow here?");
  });

  test("continues in the restored file itself, and pond reads on from there", async () => {
    const lineage = await captured({ place, id: "151a28bb-025f-4fab-bf19-d56c246ef1a9" });
    await using box = await tempDir();
    const run = await goOn(qwenCode, lineage, { folder: box.path, fidelity: "native" });
    expectInOrder(sentBy(run, PROMPT).map(lineOf), ["user: What is in the picture?", `user: ${PROMPT}`]);
    const root = join(box.path, qwenCode.sessions);
    const runs = await readFolder(adapterNamed("qwen-code")!, root);
    const [grown] = replay(runs.flatMap(({ events }) => events));
    const ids = (of: typeof grown) => of?.messages.map(({ message }) => message.id) ?? [];
    expect(grown?.session.id).toBe(lineage.state.session.id);
    expect(ids(grown).slice(0, lineage.state.messages.length)).toEqual(ids(lineage.state));
    expect(grown?.messages.slice(lineage.state.messages.length).flatMap(typedTexts)).toEqual([
      PROMPT,
      "Going on.",
    ]);
  });
});

function lineOf(sent: Sent): string {
  if (sent.kind === "text") return `${sent.role}: ${sent.text}`;
  if (sent.kind === "call") return `call: ${sent.name}`;
  return `${sent.kind}: ${sent.kind === "image" ? sent.hash : sent.text}`;
}

const typedTexts = ({ parts }: Awaited<ReturnType<typeof captured>>["state"]["messages"][number]) =>
  parts.flatMap((part) => (part.type === "text" && part.provenance === "conversational" ? [part.text] : []));
