/** No command shows a secret of the settings (spec.md#config-secrets), whatever goes wrong and however much is asked for. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { TempHome } from "./pond.ts";

/** Port 1 refuses: the engine's own error quotes the address with its user and password. */
const SETTINGS = `[storage]
url = "s3://bucket/pond"
[storage.options]
aws_endpoint = "http://SECRETuser:SECRETpassword@127.0.0.1:1/?token=SECRETquery"
proxy_headers = "Authorization: Bearer SECRETbearer"
note = "x-api-key: SECRETheader"
allow_http = "true"
aws_region = "eu-west-1"
aws_access_key_id = "SECRETid"
aws_secret_access_key = "SECRETkey"
client_max_retries = "0"
`;

const write = (home: TempHome, settings: string): void => {
  const file = join(home.path, ".config/pond/config.toml");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, settings);
};

test("of an endpoint that cannot be reached", { timeout: 120_000 }, async () => {
  using home = new TempHome();
  write(home, SETTINGS);
  home.addDemoSessions();
  const lines = ["status", "status --json", "doctor", "doctor --json", "sync", "search invoice", "verify"];
  const ended = await Promise.all(lines.map((line) => home.pond([...line.split(" "), "--verbose"])));
  for (const [at, { code, stdout, stderr }] of ended.entries()) {
    expect([lines[at], code]).toEqual([lines[at], lines[at]?.startsWith("doctor") === true ? 1 : 2]);
    expect(stdout + stderr).not.toContain("SECRET");
  }
  // The rest of what the engine says is there, for who looks closer.
  expect(ended[0]?.stderr).toMatch(/caused by: [^]*http:\/\/\*\*\*@127\.0\.0\.1:1\//);
});

test("of settings that are shown", async () => {
  using home = new TempHome();
  write(home, SETTINGS);
  const shown = await home.pond(["config", "show", "--json"]);
  expect(shown.stdout).not.toMatch(/SECRET(?!user)/);
  const { settings } = JSON.parse(shown.stdout) as { settings: { key: string; value: unknown }[] };
  expect(Object.fromEntries(settings.map(({ key, value }) => [key, value]))).toMatchObject({
    "storage.options.aws_endpoint": "http://SECRETuser:********@127.0.0.1:1/?token=********",
    "storage.options.proxy_headers": "********",
    "storage.options.note": "x-api-key: ***",
    "storage.options.aws_region": "eu-west-1",
  });
});

test.each([
  ["a secret without quotes", "[storage.options]\naws_secret_access_key = SECRETkey\n"],
  ["a secret that is a number", "[storage.options]\naws_secret_access_key = 54321\n"],
  ["an address with a password", '[storage]\nurl = "s3://SECRETuser:SECRETpass@bucket/x"\n'],
  ["one with a slash in it", '[storage]\nurl = "s3://SECRETuser:SECRET/pass@bucket/x"\n'],
  ["one with one slash before it", '[storage]\nurl = "s3:/SECRETuser:SECRETpass@bucket/x"\n'],
  ["one of a scheme that is none", '[storage]\nurl = "http://SECRETuser:SECRETpass@bucket/x"\n'],
])("of settings that are wrong: %s", async (_, settings) => {
  using home = new TempHome();
  write(home, settings);
  for (const more of [[], ["--json"]]) {
    const { code, stdout, stderr } = await home.pond(["status", "--verbose", ...more]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).not.toMatch(/SECRET|54321/);
  }
});
