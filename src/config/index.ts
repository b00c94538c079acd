/**
 * The settings of pond and where they come from. Owns the configuration file, the `POND_*` variables and the XDG
 * folders; does not own what a setting means (the room that uses it does).
 */
export { configFile, describeSource, loadConfig } from "./load.ts";
export type { GivenSetting, LoadedConfig } from "./load.ts";
export type { FieldKey } from "./schema.ts";
export { NAMESPACE_PATTERN } from "./schema.ts";
