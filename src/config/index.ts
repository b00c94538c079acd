/**
 * The settings of pond and where they come from. Owns the configuration file, the `POND_*` variables and the XDG
 * folders; does not own what a setting means (the room that uses it does).
 */
export { configFile, describeSource, loadConfig } from "./load.ts";
export type { ConfigFile, FlagSetting, LoadedConfig, Setting, Source } from "./load.ts";
export { fromHome, resolvePaths } from "./paths.ts";
export type { Paths } from "./paths.ts";
export type { Config, FieldKey, FieldValue } from "./schema.ts";
