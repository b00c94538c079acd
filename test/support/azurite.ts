/**
 * Azure's own storage emulator on loopback, one for each test. Stopped by SIGTERM only: a kill loses its
 * blobs.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

const ACCOUNT = "devstoreaccount1";
/** The emulator's published key; it opens nothing else. */
const KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

export interface Azurite extends AsyncDisposable {
  readonly url: string;
  readonly storageOptions: Readonly<Record<string, string>>;
}

const MAIN = fileURLToPath(new URL("../../node_modules/azurite/dist/src/blob/main.js", import.meta.url));

export const isAzuriteInstalled = (): boolean => existsSync(MAIN);

export async function azurite(folder: string): Promise<Azurite> {
  const options = [
    "--blobHost",
    "127.0.0.1",
    "--blobPort",
    "0",
    "--location",
    folder,
    "--loose",
    "--skipApiVersionCheck",
    "--disableTelemetry",
  ];
  const server = spawn(process.execPath, ["--no-deprecation", MAIN, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((done) => server.once("close", () => done()));
  const endpoint = `${await listening(server)}/${ACCOUNT}`;
  await createContainer(endpoint, "pond");
  return {
    url: "az://pond/store",
    storageOptions: {
      azure_storage_account_name: ACCOUNT,
      azure_storage_account_key: KEY,
      azure_storage_endpoint: endpoint,
      allow_http: "true",
    },
    [Symbol.asyncDispose]: () => {
      server.kill("SIGTERM");
      return exited;
    },
  };
}

/** The address it prints once it is ready. It is stopped when it does not say so in time. */
async function listening(server: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  const impatience = setTimeout(() => server.kill("SIGTERM"), 120_000);
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const address = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
      if (address !== undefined) return address;
    }
    throw new Error("azurite did not start");
  } finally {
    clearTimeout(impatience);
    server.stdout.resume();
  }
}

/** The engine does not make containers. One signed request instead of Azure's client library. */
async function createContainer(endpoint: string, name: string): Promise<void> {
  const headers = { "x-ms-date": new Date().toUTCString(), "x-ms-version": "2023-11-03" };
  const canonical = Object.entries(headers)
    .map(([key, value]) => `${key}:${value}\n`)
    .join("");
  const resource = `/${ACCOUNT}${new URL(`${endpoint}/${name}`).pathname}\nrestype:container`;
  const signed = `PUT${"\n".repeat(12)}${canonical}${resource}`;
  const signature = createHmac("sha256", Buffer.from(KEY, "base64")).update(signed, "utf8").digest("base64");
  const response = await fetch(`${endpoint}/${name}?restype=container`, {
    method: "PUT",
    headers: { ...headers, authorization: `SharedKey ${ACCOUNT}:${signature}` },
  });
  // It is there where the emulator was started again.
  if (!response.ok && response.status !== 409)
    throw new Error(`azurite: ${response.status} ${await response.text()}`);
}
