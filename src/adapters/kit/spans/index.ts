/** Trees of sessions by the byte spans of a client's files. */
export type { SpanAdapter, SpanRef } from "./span-index.ts";
export { hasSpans } from "./span-index.ts";
export type { SpanTree } from "./span-source.ts";
export { openSpanTree } from "./span-source.ts";
