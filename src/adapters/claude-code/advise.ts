/**
 * Claude Code deletes transcripts by itself: after `cleanupPeriodDays` of its settings, 30 days when nothing is set. A
 * user of pond should know, because a session that no sync has seen by then is gone.
 */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { isJsonObject, tryParseJson } from "../../base/json/json.ts";
import type { AdapterEnv, Place } from "../kit/sources/index.ts";
import type { Advice } from "../kit/adapter/index.ts";
import { placesThatExist } from "../kit/sources/index.ts";
import { defaultPlaces } from "./places.ts";

const DEFAULT_DAYS = 30;
/** From here on nobody minds. */
const LONG_DAYS = 3650;
/** Who syncs once a week loses what is deleted sooner. */
const SHORT_DAYS = 7;

export async function advise(machine: AdapterEnv): Promise<readonly Advice[]> {
  const advice: Advice[] = [];
  for (const { path } of await placesThatExist(defaultPlaces(machine))) {
    const settings = join(dirname(path), "settings.json");
    const { days, why } = await cleanupDays(settings);
    if (days < LONG_DAYS)
      advice.push({
        message: `Claude Code deletes sessions after ${days} ${days === 1 ? "day" : "days"}${why}`,
        fix: `sync at least that often, or set "cleanupPeriodDays": 36500 in ${settings}`,
        isUrgent: days < SHORT_DAYS,
      });
  }
  return advice;
}

/** By the time of a file, in milliseconds. */
export async function deletesAfter({ path }: Place): Promise<number> {
  const { days } = await cleanupDays(join(dirname(path), "settings.json"));
  return days * 86_400_000;
}

/** After how many days, and by what. */
async function cleanupDays(settings: string): Promise<{ readonly days: number; readonly why: string }> {
  const byDefault = (why: string) => ({ days: DEFAULT_DAYS, why: `, its default: ${why}` });
  const text = await readFile(settings, "utf8").catch((error: unknown) => ({ error }));
  if (typeof text !== "string")
    return byDefault(
      errnoOf(text.error) === "ENOENT" ? `there is no ${settings}` : `${settings} cannot be read`,
    );
  const parsed = tryParseJson(text);
  if (parsed.kind !== "value" || !isJsonObject(parsed.value))
    return byDefault(`${settings} is not a JSON object`);
  const days = parsed.value["cleanupPeriodDays"];
  if (typeof days !== "number") return byDefault(`${settings} sets no cleanupPeriodDays`);
  return { days, why: ` (cleanupPeriodDays in ${settings})` };
}
