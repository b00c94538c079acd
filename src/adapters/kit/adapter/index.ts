/** What an adapter is. */
export type { Adapter, Advice, PresentSession } from "./adapter.ts";
export type { Lineage } from "../../../model/events/index.ts";
