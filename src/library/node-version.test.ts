/** An older Node loads the package and failed later, with an error that did not say why. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkNode } from "./node-version.ts";

test.each(["20.19.5", "22.17.9", "18.0.0"])("Node %s is told that it is too old", (version) => {
  expect(() => checkNode(version)).toThrow(`needs Node 22.18 or newer, and this is ${version}`);
});

test.each(["22.18.0", "23.0.0", "24.21.1"])("Node %s is taken", (version) => {
  expect(() => checkNode(version)).not.toThrow();
});

test("the version asked for is that of package.json", () => {
  const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
    engines: { node: string };
  };
  const [least = ""] = /\d+\.\d+/.exec(engines.node) ?? [];
  expect(() => checkNode(`${least}.0`)).not.toThrow();
  const [major = 0, minor = 0] = least.split(".").map(Number);
  expect(() => checkNode(`${major}.${minor - 1}.0`)).toThrow(`needs Node ${least}`);
});
