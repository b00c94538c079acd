/** What of a store is damaged, and how it is made whole again (spec.md#storage-checksums). */
export type { Damage, TableCheck } from "../../substrate/local/index.ts";
export type { Cleared } from "../damage.ts";
export { aloneIn, checkFiles, clearTheWay, forgetWhatWas, letGo, remainsOf } from "../damage.ts";
export type { StateName } from "./put-back.ts";
