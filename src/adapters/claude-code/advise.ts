/**
 * Claude Code deletes transcripts by itself: after `cleanupPeriodDays` of its settings, 30 days when nothing is set. A
 * user of pond should know, because a session that no sync has seen by then is gone.
 */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isJsonObject, tryParseJson } from "../../base/json.ts";
import type { AdapterEnv, Advice } from "../seam/index.ts";
import { placesThatExist } from "../seam/index.ts";
import { looks } from "./discover.ts";

const DEFAULT_DAYS = 30;
/** From here on nobody minds. */
const LONG_DAYS = 3650;

export async function advise(machine: AdapterEnv): Promise<readonly Advice[]> {
  const advice: Advice[] = [];
  for (const { root } of await placesThatExist(looks(machine))) {
    const settings = join(dirname(root), "settings.json");
    const days = await cleanupDays(settings);
    if (days < LONG_DAYS)
      advice.push({
        message: `Claude Code deletes sessions after ${days} days (${settings})`,
        fix: `sync at least that often, or set "cleanupPeriodDays": 36500 in ${settings}`,
      });
  }
  return advice;
}

async function cleanupDays(settings: string): Promise<number> {
  const text = await readFile(settings, "utf8").catch(() => "{}");
  const parsed = tryParseJson(text);
  if (parsed.kind !== "value" || !isJsonObject(parsed.value)) return DEFAULT_DAYS;
  const days = parsed.value["cleanupPeriodDays"];
  return typeof days === "number" ? days : DEFAULT_DAYS;
}
