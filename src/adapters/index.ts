/** The registry: one line a client (spec.md#adapter-registry), and the door to the seam for the rooms above. */
import { claudeCode } from "./claude-code/index.ts";
import { codexCli } from "./codex-cli/index.ts";
import { opencode } from "./opencode/index.ts";
import { pi } from "./pi/index.ts";
import type { Adapter } from "./seam/index.ts";

const ADAPTERS: readonly Adapter[] = [claudeCode, codexCli, opencode, pi];

/** Every client pond knows, in the order in which they are listed and synced. */
export function adapters(): readonly Adapter[] {
  return ADAPTERS;
}

export function adapterNamed(name: string): Adapter | undefined {
  return ADAPTERS.find((adapter) => adapter.name === name);
}

export type {
  Adapter,
  AdapterEnv,
  AdapterYield,
  Cursor,
  FileComparison,
  FileStamp,
  Issue,
  IssueKind,
  Lineage,
  Loss,
  Place,
  Restored,
  RestoredFile,
  SerializeOptions,
  SpanAdapter,
  SpanRef,
  SpanTree,
  Unit,
} from "./seam/index.ts";
export {
  brandOf,
  compareFile,
  FileComparer,
  describeDifference,
  isEqualFile,
  hasSpans,
  isSameStamp,
  locate,
  openSpanTree,
  printFile,
} from "./seam/index.ts";
