/**
 * What pond remembers besides cursors. A door of its own: a sync with nothing to do needs none of it, and each module costs
 * its start half a millisecond.
 */
export { removeAbandoned } from "./abandoned.ts";
export { forgetEmbedded, isEmbedded, rememberEmbedded } from "./embedded.ts";
export { knownFaults, rememberFaults } from "./known-faults.ts";
export type { LostSource } from "./lost.ts";
export { lostPath, lostSources, rememberLost } from "./lost.ts";
export { rememberRestored, restoredStamps } from "./restores.ts";
