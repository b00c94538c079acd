/**
 * A client's format as a table: which records are turns, in which role, and which fields of their blocks become which part.
 * The table works both ways (spec.md#adapter-native-restore-lossless): what reading takes out of a record, native restore
 * puts back. Records that the table does not know are carriers, blocks that it does not know stay with their message.
 */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { Extracted, Role } from "../../../model/index.ts";
import type { PondFacts, RecordedAuthor } from "../../../model/derived/index.ts";
import type { Pointer } from "./pointer.ts";

/** Which blocks a shape is for, where the values at its pointers do not say it. */
interface Chosen {
  /**
   * Whether a block is of this shape. It reads what no shape takes out, such as the block's type: native restore asks it again,
   * to choose among several shapes of one part.
   */
  readonly when?: (block: JsonObject) => boolean;
}

/**
 * A block that becomes one part. The shapes are tried in order, the first that fits is taken. A shape fits where its `when`
 * says so and one of its values is there; without `when`, where its content is there (text, params, result, data), or the
 * object inside the block that would have it (`call` of `/call/args`) with another of its values. What no shape fits stays with
 * its message, unread. A block that is a string is a text and needs no shape.
 */
export type BlockShape = Chosen & PartShape;

type PartShape =
  | { readonly part: "text" | "reasoning"; readonly text: Pointer }
  | {
      readonly part: "tool_call";
      readonly id: Pointer;
      readonly name: Pointer;
      readonly params: Pointer;
    }
  | {
      readonly part: "tool_result";
      readonly id: Pointer;
      /** Absent where only the call says which tool it was. */
      readonly name?: Pointer;
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
  /** Its list of blocks, or one text; of anything else the record becomes a carrier, with an issue. */
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
