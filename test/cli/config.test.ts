/** `pond config` by the built command. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TempHome } from "./pond.ts";

const TOML = `[storage]
url = "~/pond"
[storage.options]
aws_region = "eu"
aws_secret_access_key = "s3cr3t"
`;

function homeWith(toml: string): TempHome {
  const home = new TempHome();
  mkdirSync(join(home.path, ".config/pond"), { recursive: true });
  writeFileSync(join(home.path, ".config/pond/config.toml"), toml);
  return home;
}

test("show prints key, value and source of every setting, secrets masked", async () => {
  using home = homeWith(TOML);
  const shown = await home.pond(["config", "show", "--config", ".config/pond/config.toml"], {
    env: { POND_STORAGE_NAMESPACE: "mine", POND_EMBEDDINGS_PROVIDER: "" },
  });
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout.replaceAll(home.path, "~")).toBe(
    [
      "KEY\tVALUE\tSOURCE",
      "storage.url\t~/pond\tfile config.toml:2",
      "storage.namespace\tmine\tenv POND_STORAGE_NAMESPACE",
      "storage.options.aws_region\teu\tfile config.toml:4",
      "storage.options.aws_secret_access_key\t********\tfile config.toml:5",
      "sync.batch_rows\t30000\tdefault",
      "sync.batch_bytes\t10000000\tdefault",
      "embeddings.provider\tstatic\tdefault",
      "",
    ].join("\n"),
  );
});

test("show --json is one document, and holds no secret either", async () => {
  using home = homeWith(TOML);
  const { stdout } = await home.pond(["config", "show", "--json", "--store", "s3://b/p"]);
  expect(stdout).not.toContain("s3cr3t");
  expect(JSON.parse(stdout)).toMatchObject({
    file: join(home.path, ".config/pond/config.toml"),
    settings: expect.arrayContaining([
      { key: "storage.url", value: "s3://b/p", source: "flag --store" },
      {
        key: "storage.options.aws_secret_access_key",
        value: "********",
        source: "file config.toml:5",
        secret: true,
      },
    ]),
  });
});

test("the key of an embedding service is masked, wherever it is set, and so is a password in its address", async () => {
  using home = homeWith(
    "[embeddings]\nprovider = 'openai'\nurl = 'https://me:s3cr3t@host/v1'\napi_key = 's3cr3t'\n",
  );
  for (const key of [{}, { POND_EMBEDDINGS_API_KEY: "s3cr3t-too" }]) {
    const env = { POND_EMBEDDINGS_PROVIDER: "", ...key };
    for (const args of [[], ["--json"]]) {
      const { stdout, stderr } = await home.pond(["config", "show", ...args], { env });
      expect(stdout).toContain("embeddings.api_key");
      expect(stdout + stderr).not.toContain("s3cr3t");
    }
  }
});

test("schema says which providers there are", async () => {
  using home = new TempHome();
  const { stdout } = await home.pond(["config", "schema"]);
  expect(JSON.parse(stdout).properties.embeddings.properties.provider).toMatchObject({
    type: "string",
    enum: ["none", "static", "onnx", "openai", "ollama", "voyage", "cohere", "gemini"],
    default: "static",
  });
});

test("show tells a POND_ variable that no setting has", async () => {
  using home = new TempHome();
  const { stderr, code } = await home.pond(["config", "show"], { env: { POND_STROE: "/x" } });
  expect([code, stderr]).toEqual([0, "note: POND_STROE is set, but no setting has that variable\n"]);
});

test("a broken file stops with place, key and fix", async () => {
  using home = homeWith("[storage]\nulr = 'x'\n");
  const { stdout, stderr, code } = await home.pond(["config", "show"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr.replaceAll(home.path, "~")).toBe(
    'pond: ~/.config/pond/config.toml:2:1: "storage.ulr" is not a setting\n  fix: did you mean "storage.url"?\n',
  );
});

test("path prints the path alone; that there is no file is a note", async () => {
  using home = new TempHome();
  const stdout = `${join(home.path, ".config/pond/config.toml")}\n`;
  const missing = await home.pond(["config", "path"]);
  expect(missing).toMatchObject({ code: 0, stdout });
  expect(missing.stderr).toMatch(/^note: the file does not exist yet/);
  using other = homeWith("broken = ");
  // Even a broken one can be found to be mended.
  expect(await other.pond(["config", "path", "--json"])).toEqual({
    code: 0,
    stdout: `${JSON.stringify({ path: join(other.path, ".config/pond/config.toml"), exists: true })}\n`,
    stderr: "",
  });
});

test("a home that is no folder has no file, and that is fine", async () => {
  using home = new TempHome();
  const { code, stderr } = await home.pond(["config", "show"], { env: { HOME: "/dev/null" } });
  expect([code, stderr]).toEqual([0, ""]);
});

test("schema is a JSON Schema with every setting", async () => {
  using home = new TempHome();
  const { stdout } = await home.pond(["config", "schema"]);
  expect(JSON.parse(stdout)).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    additionalProperties: false,
    properties: {
      storage: {
        properties: {
          url: { type: "string" },
          namespace: { type: "string", default: "default" },
          options: { additionalProperties: { type: "string" } },
        },
      },
      adapters: {
        additionalProperties: {
          additionalProperties: false,
          properties: { enabled: { type: "boolean" }, paths: { type: "array", items: { type: "string" } } },
        },
      },
      sync: { properties: { batch_rows: { type: "integer", minimum: 1, default: 30_000 } } },
    },
  });
});
