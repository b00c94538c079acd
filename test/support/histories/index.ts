/** Every client that histories are played with. */
import { claudeCode } from "./claude-code.ts";
import { codexCli, codexPaginated } from "./codex-cli.ts";
import { opencodeDatabase, opencodeTree } from "./opencode.ts";
import { pi } from "./pi.ts";
import type { SourceModel } from "./source-model.ts";

export const MODELS: readonly SourceModel[] = [
  claudeCode,
  codexCli,
  codexPaginated,
  opencodeTree,
  opencodeDatabase,
  pi,
];
