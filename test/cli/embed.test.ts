/** Vectors from the settings to the store, with a service on loopback: what each command says of them. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { fakeVector } from "../support/fake-embedder.ts";
import { EmbeddingServer } from "../support/embedding-server.ts";
import { ROOT, TempHome } from "./pond.ts";

const MODEL = { name: "served", dimension: 24 };

/** As Ollama answers. */
const serve = (): Promise<EmbeddingServer> =>
  EmbeddingServer.start(({ body }) => ({
    body: { embeddings: body.input.map((text: string) => [...fakeVector(text, MODEL)]) },
  }));

const settings = (url: string, model = "served"): Record<string, string> => ({
  POND_EMBEDDINGS_PROVIDER: "ollama",
  POND_EMBEDDINGS_URL: url,
  POND_EMBEDDINGS_MODEL: model,
});

test("a sync embeds what it stored, the next one asks nobody, status and doctor tell of it", async () => {
  using home = new TempHome();
  home.addDemoSessions();
  await using server = await serve();
  const env = settings(server.url);
  const first = await home.pond(["sync"], { env });
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toMatch(/; embed: [1-9]\d messages; update-indexes: updated\n$/);

  const asked = server.asked.length;
  const trace = join(ROOT, "test/cli/trace-loads.mjs");
  const idle = await home.exec(
    process.execPath,
    ["--import", trace, join(ROOT, "dist/cli/main.js"), "sync"],
    { env },
  );
  expect(idle.stdout).toMatch(/; embed: nothing to do; update-indexes: nothing to do\n$/);
  expect(server.asked.length).toBe(asked);
  expect(idle.stderr).not.toMatch(/node_modules|dist\/(embeddings|sessions\/(?!peek))/);

  expect((await home.pond(["status"], { env })).stdout).toMatch(
    /embeddings on\n[^]*\nvectors ollama:served:.*: [1-9]\d messages \(100%\), [\d.]+ [kK]?B\n$/,
  );
  expect((await home.pond(["doctor"], { env })).stdout).toMatch(
    /ok {4}vectors {4}[1-9]\d messages have one of /,
  );
  const off = await home.pond(["doctor"]);
  expect(off.stdout).toMatch(/ok {4}vectors {4}those of .* are not used: embeddings are off/);

  const forced = await home.pond(["sync", "--only", "embed", "--force-embed"], { env });
  expect(forced.stdout).toMatch(/; embed: [1-9]\d messages\n$/);
  const other = await home.pond(["sync"], { env: settings(server.url, "another") });
  expect(other.stdout).toMatch(/; embed: [1-9]\d messages, vectors of ollama:served:.* dropped; /);
});

test("a service that is not there ends no import: what is left, why, and how to go on", async () => {
  using home = new TempHome();
  home.addDemoSessions();
  const server = await serve();
  const env = settings(server.url);
  await server[Symbol.asyncDispose]();
  const { code, stdout, stderr } = await home.pond(["sync"], { env });
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/\+\d+[^]*; embed: failed; update-indexes: updated\n$/),
  ]);
  expect(stderr).toMatch(/^note: embed: .*127\.0\.0\.1/m);
  const doctor = await home.pond(["doctor"], { env });
  expect(doctor.stdout).toMatch(/warn {2}vectors .*no message is embedded[^]*fix: pond sync --only embed/);
  await using again = await serve();
  const next = await home.pond(["sync", "--json"], { env: settings(again.url) });
  expect(JSON.parse(next.stdout)).toMatchObject({ embed: { outcome: "embedded", run: { left: 0 } } });
});
