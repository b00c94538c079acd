/** What a session is, before its first record is read (spec.md#model-project): every record of Qwen Code says so. */
import type { JsonObject } from "../../../base/json/json.ts";
import { isJsonObject } from "../../../base/json/json.ts";
import type { Extracted, Timestamp } from "../../../model/index.ts";
import type { JsonlItem, LogHead } from "../../kit/log/index.ts";
import { extractBoolean, extractName, extractTimestamp, objectField } from "../../kit/extract/index.ts";

export class HeadFinder implements LogHead {
  id: Extracted<string> | undefined;
  directory: Extracted<string> | undefined;
  instant: Timestamp | undefined;
  /** The kind of a subagent. */
  agent: Extracted<string> | undefined;
  /** Whether the record that names the session says that a subagent wrote it: it names the session that started it. */
  isSubagent = false;
  /** The subagent's id, by which the client names its log. */
  agentId: Extracted<string> | undefined;
  /** The session that this one was forked from. */
  forkedFrom: Extracted<string> | undefined;
  hasContent = false;

  get isSession(): boolean {
    return this.id !== undefined;
  }

  get isComplete(): boolean {
    return this.id !== undefined && this.directory !== undefined && this.instant !== undefined;
  }

  see(items: readonly JsonlItem[]): boolean {
    for (const item of items) {
      if (item.kind === "tail") continue;
      this.hasContent = true;
      if (item.kind === "record" && isJsonObject(item.value) && !this.isComplete) this.#see(item.value);
    }
    return this.isComplete;
  }

  #see(record: JsonObject): void {
    if (this.id === undefined) this.#seeIdentity(record);
    this.directory ??= extractName(record, "cwd");
    this.instant ??= extractTimestamp(record, "timestamp");
    this.agent ??= extractName(record, "agentName");
    this.forkedFrom ??= extractName(objectField(record, "forkedFrom") ?? {}, "sessionId");
  }

  #seeIdentity(record: JsonObject): void {
    this.id = extractName(record, "sessionId");
    if (this.id === undefined) return;
    this.agentId = extractName(record, "agentId");
    const isNamed = this.agentId !== undefined || extractName(record, "agentName") !== undefined;
    this.isSubagent = isNamed || extractBoolean(record, "isSidechain") === true;
  }
}
