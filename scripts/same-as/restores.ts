/** Sessions written as files of every client by both checkouts: the reports and every byte of the files. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { compareEnded } from "./documents.ts";
import type { Bench, Home } from "./homes.ts";
import { copyFolder, pond } from "./homes.ts";
import { pickSessions } from "./picks.ts";
import type { Report } from "./report.ts";

/** Returns how many files were compared. */
export async function compareRestores(bench: Bench, report: Report): Promise<number> {
  // Copies, because a restore is recorded in the store.
  const sides = [bench.before, bench.after].map((home) => copyHome(bench, home));
  let compared = 0;
  for (const { id } of await pickSessions(bench))
    for (const to of bench.clients) {
      const restored = await Promise.all(
        sides.map(async (home) => {
          const out = join(home.path, "out", id.replaceAll("/", "_"), to);
          const ended = await pond(home, ["restore", id, "--to", to, "--out", out, "--json"]);
          return { ended, files: filesIn(out), masks: [[home.path, "<home>"]] as const };
        }),
      );
      const [before, after] = [restored[0]!, restored[1]!];
      const command = `pond restore ${id} --to ${to}`;
      compareEnded({ verb: "restore", command }, [before, after], report);
      for (const path of new Set([...before.files.keys(), ...after.files.keys()])) {
        const [one, two] = [before.files.get(path), after.files.get(path)];
        if (one !== two)
          report.add(
            `${command}: ${path} ${one === undefined ? "is new" : two === undefined ? "is missing" : "has other bytes"}`,
            "restores",
          );
      }
      compared += before.files.size;
    }
  return compared;
}

function copyHome({ folder, before }: Bench, { checkout }: Home): Home {
  const path = join(folder, checkout === before.checkout ? "restored-before" : "restored-after");
  copyFolder(before.path, path);
  return { checkout, path, store: before.store.replace(before.path, path) };
}

function filesIn(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map();
  return new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(folder, path), hash("sha256", readFileSync(path))]),
  );
}
