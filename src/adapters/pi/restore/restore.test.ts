import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { lineagesOf, readFolder } from "../../../../test/support/adapter-run.ts";
import type { JsonObject } from "../../../base/json/json.ts";
import { replay } from "../../../model/events/index.ts";
import type { Lineage } from "../../kit/adapter/index.ts";
import type { RestoredFile, SerializeOptions } from "../../kit/restore/index.ts";
import { pi } from "../index.ts";
import { serialize } from "./restore.ts";

const FIXTURE = join(import.meta.dirname, "../../../../test/fixtures/adapters/pi/sessions");
const CAPTURED = "01a1e1d0-8d21-70bd-9619-b545abc296ea";
const FORK = "01a1e1d0-dabf-73bc-814d-9a3fd99d5a2e";
const OLD = "0193a000-0000-7000-8000-000000000003";
const CLIENT: SerializeOptions = { fidelity: "native", layout: "client", mapPath: (path) => path, now: 0 };

let lineages: readonly Lineage[];
const lineageOf = (id: string): Lineage => lineages.find(({ state }) => state.session.id.startsWith(id))!;
const paths = (files: readonly RestoredFile[]): string[] => files.map(({ path }) => path);
const headersOf = (files: readonly RestoredFile[]): JsonObject[] =>
  files.map((file) => (file.kind === "jsonl" ? (file.records[0] as JsonObject) : {}));

beforeAll(async () => {
  const runs = await readFolder(pi, FIXTURE);
  lineages = lineagesOf(replay(runs.flatMap(({ events }) => events)));
});

describe("native restore", () => {
  test("puts a session and its forks where the client looks", () => {
    const restored = serialize(lineageOf(CAPTURED), CLIENT);
    expect(paths(restored.files)).toEqual([
      `--tmp-pond-garden--/2026-11-16T00-45-03-650Z_${CAPTURED}.jsonl`,
      `--tmp-pond-garden--/2026-11-16T00-45-23-520Z_${FORK}.jsonl`,
    ]);
    expect(restored).toMatchObject({ fidelity: "native", losses: [] });
    expect(restored.resume).toEqual({
      id: CAPTURED,
      directory: "/tmp/pond-garden",
      words: ["pi", "--session", CAPTURED],
      byPath: ["pi", "--session"],
    });
  });

  test("follows a mapped directory in folder and headers, and maps the parent's path too", () => {
    const mapPath = (path: string): string =>
      path.replace("/tmp/pond-garden", "/home/me/garden").replace("/tmp/pond-home", "/home/me");
    const { files, resume } = serialize(lineageOf(CAPTURED), { ...CLIENT, mapPath });
    expect(paths(files).every((path) => path.startsWith("--home-me-garden--/"))).toBe(true);
    expect(headersOf(files).map(({ cwd }) => cwd)).toEqual(["/home/me/garden", "/home/me/garden"]);
    expect(headersOf(files)[1]?.["parentSession"]).toMatch(/^\/home\/me\/\.pi\/agent\/sessions\//);
    expect(resume.directory).toBe("/home/me/garden");
  });

  test("gives a session under another name the name that the client would give it", () => {
    const { files, resume } = serialize(lineageOf("my session"), CLIENT);
    expect(paths(files)).toEqual(["--srv-odd--/2026-02-01T10-00-00-000Z_my session.jsonl"]);
    expect(resume.id).toBe("my session");
  });

  test("never writes two sessions into one file", () => {
    const original = lineageOf(OLD);
    // As an older pond stored a copy: by an id of its own, with the client's beside it.
    const { session } = original.state;
    const copied = { ...session, id: `${session.id}@0123abcd` as typeof session.id };
    const messages = original.state.messages.slice(0, -1);
    const copy = { state: { session: copied, messages }, children: [] };
    const { files } = serialize({ ...original, children: [copy] }, CLIENT);
    expect(new Set(paths(files)).size).toBe(2);
  });

  test("refuses what did not come from pi", () => {
    const { state } = lineageOf(CAPTURED);
    const [header] = state.messages;
    const foreign = { ...header!, message: { ...header!.message, options: {} } };
    expect(() => serialize({ state: { ...state, messages: [foreign] }, children: [] }, CLIENT)).toThrow(
      /does not contain a record of pi/,
    );
    const nowhere = { ...state.session, options: {} };
    expect(() => serialize({ state: { ...state, session: nowhere }, children: [] }, CLIENT)).toThrow(
      /which file it came from/,
    );
  });
});
