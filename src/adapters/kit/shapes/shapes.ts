/**
 * A client's format as a table: which records are turns, in which role, and which fields of their blocks become which part.
 * The table works both ways (spec.md#adapter-native-restore-lossless): what reading takes out of a record, native restore
 * puts back. Records that the table does not know are carriers, blocks that it does not know stay with their message.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { Extracted, Role } from "../../../model/index.ts";
import type { PondFacts, RecordedAuthor } from "../../../model/derived/index.ts";
import type { Pointer } from "./pointer.ts";

/** A block that becomes one part (a text several, where it is split); tried in order, the first that fits is taken. */
export type BlockShape =
  | {
      readonly part: "text" | "reasoning";
      readonly text: Pointer;
      /** Where texts of both kinds are at the same place: which they are. It reads what is not taken out. */
      readonly when?: (block: JsonObject) => boolean;
    }
  | {
      readonly part: "tool_call";
      readonly id: Pointer;
      readonly name: Pointer;
      readonly params: Pointer;
    }
  | {
      readonly part: "tool_result";
      readonly id: Pointer;
      readonly name: Pointer;
      readonly result: Pointer;
      /** Whether the tool failed, where the record says so; it is not taken out. */
      readonly failure?: (block: JsonObject, record: JsonObject) => Extracted<boolean> | undefined;
    }
  | { readonly part: "file"; readonly data: Pointer; readonly media_type: Pointer };

/** What the client wrote in the place of a turn, and who wrote it where that is not the client. */
export interface Injected {
  readonly kind: string;
  readonly author?: RecordedAuthor;
}

/** How a record becomes a message. */
export interface TurnShape {
  readonly role: Exclude<Role, "system">;
  /** Its list of blocks. */
  readonly blocks: Pointer;
  /** Which blocks the client injected; none where it is absent. */
  readonly injected?: (
    record: JsonObject,
    blocks: readonly JsonValue[],
  ) => (at: number) => Injected | undefined;
}

/** The table of a client. */
export interface RecordShapes {
  /** The fields of every record: its id, the id of its parent in the tree, its instant. */
  readonly id: string;
  readonly parent: string;
  readonly timestamp: string;
  /** The kind of a record, for ids of records that have none. */
  readonly kind: string;
  /** By what is never taken out of a record. */
  readonly turn: (record: JsonObject) => TurnShape | undefined;
  readonly blocks: readonly BlockShape[];
  /** Facts about a message (`options.pond`) that the table cannot say, such as titles. */
  readonly facts?: (record: JsonObject) => PondFacts;
}
