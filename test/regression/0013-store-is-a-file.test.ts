/** A store that is a file, or below one, is said so by the verbs that look at its files, too, and not in the system's words. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { doctor, repair, verifyFiles, verifyStored } from "../../src/handlers/index.ts";
import type { TempContext } from "../support/temp-context.ts";
import { tempContext } from "../support/temp-context.ts";

async function storeThatIsAFile(): Promise<TempContext> {
  const temp = await tempContext();
  writeFileSync(join(temp.home, "store"), "");
  return temp;
}

test.each([
  ["repair", ({ context }: TempContext) => repair(context)],
  ["verify --stored, its files", ({ context }: TempContext) => verifyFiles(context)],
  ["verify --stored, its sessions", ({ context }: TempContext) => verifyStored(context, {})],
])("%s", async (_, look) => {
  await using temp = await storeThatIsAFile();
  await expect(look(temp)).rejects.toMatchObject({
    code: "storage_unavailable",
    message: `${join(temp.home, "store")} is not a folder`,
    hint: "name another folder",
  });
});

test("doctor fails for it once, and tells the rest", async () => {
  await using temp = await storeThatIsAFile();
  const findings = await doctor(temp.context);
  const told = findings.filter(({ message }) => message.includes("is not a folder"));
  expect(told).toEqual([
    {
      topic: "store",
      status: "fail",
      message: `${join(temp.home, "store")} is not a folder`,
      fix: "name another folder",
    },
  ]);
  expect(findings.map(({ topic }) => topic)).toContain("clients");
});
