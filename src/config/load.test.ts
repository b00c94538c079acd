/** Precedence and sources of settings, and what a broken file says. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { PondError } from "../base/errors.ts";
import { tempDir } from "../../test/support/temp-dir.ts";
import type { TempDir } from "../../test/support/temp-dir.ts";
import { shownValue } from "./describe.ts";
import { describeSource, loadConfig } from "./index.ts";
import { resolvePaths } from "./paths.ts";
import type { GivenSetting, LoadedConfig } from "./index.ts";

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly given?: readonly GivenSetting[];
  readonly file?: string;
  readonly toml?: string | Uint8Array;
}

async function load(home: TempDir, { env = {}, given = [], file, toml }: Given = {}): Promise<LoadedConfig> {
  const environment = { env, home: home.path, platform: "linux", cwd: join(home.path, "cwd") } as const;
  if (toml !== undefined) {
    const path = resolvePaths(environment).configFile;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, toml);
  }
  return loadConfig({ environment, given, file });
}

const sources = ({ settings }: LoadedConfig): Record<string, string> =>
  Object.fromEntries(settings.map(({ path, source }) => [path.join("."), describeSource(source)]));

describe("precedence", () => {
  test("with no file and nothing set, everything is its default", async () => {
    await using home = await tempDir();
    const config = await load(home);
    expect(new Set(Object.values(sources(config)))).toEqual(new Set(["default"]));
    expect(config.values).toMatchObject({
      storage: { url: join(home.path, ".local/share/pond/store"), namespace: "default", options: {} },
      adapters: {},
    });
  });

  test("flag beats env beats file beats default, and each says where it comes from", async () => {
    await using home = await tempDir();
    const toml = '# first line\n[storage]\nurl = "/file"\nnamespace = "of-file"\n\n[sync]\nbatch_rows = 7\n';
    const flag: GivenSetting = { key: "storage.url", name: "--store", text: "/flag" };
    const env = { POND_STORE: "/env", POND_STORAGE_NAMESPACE: "of-env" };

    const all = await load(home, { toml, env, given: [flag] });
    expect(all.values.storage).toMatchObject({ url: "/flag", namespace: "of-env" });
    expect(sources(all)).toEqual({
      "storage.url": "flag --store",
      "storage.namespace": "env POND_STORAGE_NAMESPACE",
      "sync.batch_rows": "file config.toml:7",
      "sync.batch_bytes": "default",
      "embeddings.provider": "default",
    });
    expect((await load(home, { env })).values.storage.url).toBe("/env");
    const file = await load(home);
    expect(file.values.storage.url).toBe("/file");
    expect(sources(file)["storage.url"]).toBe("file config.toml:3");
  });

  test("an empty variable counts as not set", async () => {
    await using home = await tempDir();
    expect(sources(await load(home, { env: { POND_STORE: "", POND_CONFIG: "" } }))["storage.url"]).toBe(
      "default",
    );
  });

  test("variables reach settings under names of the user's, and unknown ones are told", async () => {
    await using home = await tempDir();
    const config = await load(home, {
      env: {
        POND_STORAGE_OPTIONS_AWS_REGION: "eu",
        POND_ADAPTERS_CLAUDE_CODE_ENABLED: "no",
        POND_ADAPTERS_CLAUDE_CODE_PATHS: "/a:~/b",
        POND_STORRE: "/x",
      },
    });
    expect(config.values.storage.options).toEqual({ aws_region: "eu" });
    expect(config.values.adapters).toEqual({
      "claude-code": { enabled: false, paths: ["/a", join(home.path, "b")] },
    });
    expect(config.unknownVariables).toEqual(["POND_STORRE"]);
  });

  test("a name such as __proto__ is data", async () => {
    await using home = await tempDir();
    const { values } = await load(home, {
      toml: '[adapters.__proto__]\nenabled = true\n[storage.options]\n__proto__ = "x"',
    });
    expect(Object.entries(values.adapters)).toEqual([["__proto__", { enabled: true }]]);
    expect(Object.entries(values.storage.options)).toEqual([["__proto__", "x"]]);
    expect("enabled" in {}).toBe(false);
  });
});

describe("paths and URLs", () => {
  test.each([
    ["~/pond", "HOME/pond"],
    ["~", "HOME"],
    ["rel/store", "BASE/rel/store"],
    ["/abs/../store", "/store"],
    ["file:///abs/store", "file:///abs/store"],
    ["S3://bucket/Path", "s3://bucket/Path"],
    ["gs://b", "gs://b"],
    ["az://c/p", "az://c/p"],
    ["memory://", "memory://"],
  ])("store %s", async (text, expected) => {
    await using home = await tempDir();
    const inPlace = (base: string): string => expected.replace("HOME", home.path).replace("BASE", base);
    const byFlag = await load(home, { given: [{ key: "storage.url", name: "--store", text }] });
    expect(byFlag.values.storage.url).toBe(inPlace(join(home.path, "cwd")));
    // A path in the file means the same from every working folder.
    const byFile = await load(home, { toml: `storage.url = "${text}"` });
    expect(byFile.values.storage.url).toBe(inPlace(join(home.path, ".config/pond")));
  });

  test("XDG folders move config, data and state; a relative one is ignored", () => {
    const base = { home: "/h", cwd: "/", platform: "darwin" } as const;
    const env = { XDG_CONFIG_HOME: "/c", XDG_DATA_HOME: "/d", XDG_STATE_HOME: "/s" };
    expect(resolvePaths({ ...base, env })).toEqual({
      configFile: "/c/pond/config.toml",
      data: "/d/pond",
      state: "/s/pond",
    });
    expect(resolvePaths({ ...base, env: { XDG_DATA_HOME: "d", XDG_STATE_HOME: "" } })).toEqual({
      configFile: "/h/.config/pond/config.toml",
      data: "/h/.local/share/pond",
      state: "/h/.local/state/pond",
    });
  });

  test("Windows uses AppData", () => {
    const env = { APPDATA: String.raw`D:\R`, LOCALAPPDATA: undefined };
    expect(resolvePaths({ env, home: String.raw`C:\U`, cwd: "C:\\", platform: "win32" })).toEqual({
      configFile: String.raw`D:\R\pond\config.toml`,
      data: String.raw`C:\U\AppData\Local\pond\data`,
      state: String.raw`C:\U\AppData\Local\pond\state`,
    });
  });
});

describe("a broken file names place, key and fix", () => {
  const [url, rows] = ["storage.url", "sync.batch_rows"];
  test.each<[toml: string, place: string, key: string, message: RegExp, fix: RegExp]>([
    ["[storage]\nurl = s3://x", "2:6", url, /storage\.url/, /url = "s3:\/\/x"/],
    ["[storage]\nurl =", "2:6", url, /storage\.url/, /give url a value/],
    ['[storage]\nurl = "x\n', "2:9", url, /storage\.url/, /close the quote/],
    ['[storage]\nurl = "C:\\Users"', "2:12", url, /escape/, /single quotes: url = '/],
    ["[storage]\nurl = 'a'\nurl = 'b'", "3:1", url, /redefine/, /line 2/],
    ["[storage]\nurl: x", "2:4", url, /storage\.url/, /name = "text"/],
    ["[adapters.pi]\npaths = ['a'\nenabled = true", "3:1", "adapters.pi.paths", /comma/, /close the bracket/],
    [
      '[storage]\nulr = "x"',
      "2:1",
      "storage.ulr",
      /"storage\.ulr" is not a setting/,
      /did you mean "storage\.url"/,
    ],
    ["[stroage]\nurl = 'x'", "1:2", "stroage", /"stroage" is not a setting/, /did you mean "storage"/],
    ["url = 'x'", "1:1", "url", /not a setting/, /"storage\.url"\? It belongs under \[storage\]/],
    ["store = 'x'", "1:1", "store", /not a setting/, /"storage\.url"\? It belongs under \[storage\]/],
    ["[storage]\nstore = 'x'", "2:1", "storage.store", /not a setting/, /did you mean "storage\.url"/],
    ["[storage]\nplace = 'x'", "2:1", "storage.place", /not a setting/, /takes url, namespace, options/],
    ["nonsense = 1", "1:1", "nonsense", /not a setting/, /describe_settings/],
    ["[adapters.pi]\nenable = true", "2:1", "adapters.pi.enable", /not a setting/, /adapters\.pi\.enabled/],
    ["storage = 'x'", "1:1", "storage", /is a table, not a value/, /write \[storage\]/],
    ["[storage.url]\nx = 1", "1:2", url, /must be text, not a table/, /url = /],
    [
      "[sync]\nbatch_rows = 'many'",
      "2:1",
      rows,
      /a whole number, not the string "many"/,
      /batch_rows = 30000/,
    ],
    ["[sync]\nbatch_rows = 1.5", "2:1", rows, /a whole number, not 1\.5/, /batch_rows = 30000/],
    ["[sync]\nbatch_rows = 0", "2:1", rows, /at least 1, not 0/, /batch_rows = 30000/],
    ["[sync]\nbatch_bytes = 99000000", "2:1", "sync.batch_bytes", /at most 64000000/, /batch_bytes = /],
    [
      "[adapters.pi]\nenabled = 1979-05-27",
      "2:1",
      "adapters.pi.enabled",
      /true or false, not a date/,
      /enabled = /,
    ],
    ["[adapters.pi]\npaths = ['a', 3]", "2:1", "adapters.pi.paths", /a list of strings/, /paths = \["/],
    ["[storage]\nnamespace = '../x'", "2:1", "storage.namespace", /cannot be "\.\.\/x"/, /letters/],
    [
      "[storage]\nurl = 'S3:/x'",
      "2:1",
      url,
      /cannot be "S3:\/x"/,
      /write two slashes after the colon: s3:\/\//,
    ],
    [
      "[embeddings]\nprovider = 'Olama'",
      "2:1",
      "embeddings.provider",
      /cannot be "Olama"/,
      /did you mean "ollama"\? It is one of none, static, onnx, openai, ollama, voyage, cohere, gemini/,
    ],
    [
      "[embeddings]\nprovider = 'huggingface'",
      "2:1",
      "embeddings.provider",
      /cannot be "huggingface"/,
      /^one of none, /,
    ],
    [
      "[embeddings]\nsha256 = 'afdb'",
      "2:1",
      "embeddings.sha256",
      /cannot be "afdb"/,
      /64 hexadecimal digits/,
    ],
    [
      "[embeddings]\napi_key = 12345",
      "2:1",
      "embeddings.api_key",
      /must be text, not that/,
      /api_key = "text"/,
    ],
    ["[embeddings]\nwindow = 1", "2:1", "embeddings.window", /at least 16, not 1/, /window = 1/],
    ["[storage]\nurl = 'http://x'", "2:1", url, /cannot begin with http:\/\//, /s3:\/\//],
    ["[storage]\nurl = 's3://'", "2:1", url, /names no place/, /s3:\/\/bucket/],
    ["[storage]\nurl = 'file://rel'", "2:1", url, /absolute path/, /file:\/\/\//],
    ["[storage]\nurl = '~bob/x'", "2:1", url, /cannot be "~bob\/x"/, /whole path/],
    ["[storage]\nurl = ''", "2:1", url, /must not be empty/, /give it a value/],
  ])("%j", async (toml, place, key, message, fix) => {
    await using home = await tempDir();
    const error = await failure(load(home, { toml }));
    expect(error.code).toBe("validation_failed");
    expect(error.message).toMatch(message);
    expect(error.message).toContain(`${join(home.path, ".config/pond/config.toml")}:${place}: `);
    expect(error.data).toMatchObject({ key });
    expect(error.hint).toMatch(fix);
  });

  test("a file that is not UTF-8", async () => {
    await using home = await tempDir();
    const error = await failure(load(home, { toml: Buffer.from([0x61, 0x3d, 0xff]) }));
    expect(error.message).toMatch(/not UTF-8/);
  });

  test("a flag does not hide that the file is broken", async () => {
    await using home = await tempDir();
    const given: GivenSetting[] = [{ key: "storage.url", name: "--store", text: "/x" }];
    await expect(load(home, { toml: "[storage]\nurl = 3", given })).rejects.toThrow(
      /storage\.url must be text/,
    );
  });

  test("CRLF, a byte order mark and an empty file are no trouble", async () => {
    await using home = await tempDir();
    const crlf = await load(home, { toml: "\ufeff[sync]\r\nbatch_rows = 5\r\n" });
    expect(sources(crlf)["sync.batch_rows"]).toBe("file config.toml:2");
    expect((await load(home, { toml: "" })).values.sync.batch_rows).toBe(30_000);
  });
});

describe("which file", () => {
  test("--config beats POND_CONFIG, both from the working folder, and both must exist", async () => {
    await using home = await tempDir();
    await mkdir(join(home.path, "cwd"));
    await writeFile(join(home.path, "cwd/a.toml"), "sync.batch_rows = 1");
    await writeFile(join(home.path, "cwd/b.toml"), "sync.batch_rows = 2");
    const env = { POND_CONFIG: "b.toml" };
    expect((await load(home, { env, file: "a.toml" })).values.sync.batch_rows).toBe(1);
    expect((await load(home, { env })).values.sync.batch_rows).toBe(2);
    expect(await failure(load(home, { file: "c.toml" }))).toMatchObject({ code: "not_found" });
    expect((await failure(load(home, { env: { POND_CONFIG: "c.toml" } }))).message).toMatch(
      /^POND_CONFIG names /,
    );
    expect((await failure(load(home, { file: "." }))).message).toMatch(/is a folder/);
  });

  test("a bad variable is named, with its setting", async () => {
    await using home = await tempDir();
    const error = await failure(load(home, { env: { POND_SYNC_BATCH_ROWS: "many" } }));
    expect(error.message).toBe(
      'POND_SYNC_BATCH_ROWS: sync.batch_rows must be a whole number, not the string "many"',
    );
  });
});

test("secrets are masked by the name of the option; URLs lose passwords and signatures", async () => {
  await using home = await tempDir();
  const toml = `[storage]
url = "s3://me:hunter2@host/b?sig=abc&x=1&sv_token=t"
[storage.options]
aws_access_key_id = "AKIA1"
aws_secret_access_key = "s3cr3t"
azure_storage_sas_token = "sas1"
password = "p"
aws_endpoint = "http://u:pw@localhost:1"
aws_region = "eu-1"
allow_http = "true"
`;
  const { settings } = await load(home, { toml });
  const shown = Object.fromEntries(settings.map((setting) => [setting.path.at(-1), shownValue(setting)]));
  expect(shown).toMatchObject({
    url: "s3://me:********@host/b?sig=********&x=1&sv_token=********",
    aws_access_key_id: "********",
    aws_secret_access_key: "********",
    azure_storage_sas_token: "********",
    password: "********",
    aws_endpoint: "http://u:********@localhost:1",
    aws_region: "eu-1",
    allow_http: "true",
  });
});

async function failure(promise: Promise<unknown>): Promise<PondError> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  if (error instanceof PondError) return error;
  throw new Error("it was read without an error");
}
