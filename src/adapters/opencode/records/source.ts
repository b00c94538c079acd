/** One session as a container holds it: what the readers of trees, databases and exports give to the emitter. */
import type { JsonObject, JsonValue } from "../../../base/json/json.ts";
import type { SourceFault } from "../../kit/sources/index.ts";
import type { LogRecord, SideRecord } from "../../kit/session/index.ts";
import type { MessageContext } from "./records.ts";
import type { MessageRecord, SourceRecord } from "./record.ts";

/** In what form a session was kept: decides how it is restored to where it came from. */
export type ContainerKind = "tree" | "database" | "export" | "go";

export interface SessionSource {
  /** The id by which the client knows the session. */
  readonly id: string;
  readonly kind: ContainerKind;
  /** The unit's key, and the container of which the session is one: equal but for trees. */
  readonly key: string;
  readonly container: string;
  /** The file to look at when something is wrong. */
  readonly path: string;
  /** The session's own record; absent where only its messages are left. */
  readonly info?: SourceRecord;
  /** What is known of the session, in the names of the client's session record. */
  readonly facts: JsonObject;
  /** The nearest scope that the container carries, where neither session nor messages record a directory. */
  readonly scopes: readonly JsonValue[];
  /** Where its own record is gone: the name of the folder it is in, the scope that is left if nothing tells a nearer one. */
  readonly folder?: string;
  /** True when neither its own record nor a message is there, only what belonged to them. */
  readonly isStray?: boolean;
  /** Milliseconds since 1970 of the newest change. */
  readonly newest: number;
  readonly count: number;
  /** Messages in the client's own order, with their parts. */
  readonly message: (index: number) => MessageRecord | Promise<MessageRecord>;
  /** How a message becomes an entry of the log, where it is not written as today's client does. */
  readonly entry?: (message: MessageRecord, context: MessageContext) => LogRecord;
  readonly side: () => Iterable<SideRecord> | AsyncIterable<SideRecord>;
  /** True where another container holds all its messages in a newer form: only what stands beside them is told. */
  readonly isHeldElsewhere?: boolean;
  /** True where not even the list of its records could be read: then nothing can be told of it. */
  readonly isUnlisted?: boolean;
  /** True where something beside it is there and could not be looked at. */
  readonly isPartial?: boolean;
  /** What was found wrong since the last call. */
  readonly faults: () => readonly SourceFault[];
}

/** A database, whatever its tables: its sessions, and what changes when anything of a session does. */
export interface Container {
  readonly kind: ContainerKind;
  /** True when it has the tables that it is read by. */
  readonly isReadable: boolean;
  readonly digests: () => Promise<ReadonlyMap<string, string>>;
  /** True for a session of which `digests` found neither its own row nor a message. */
  readonly isStray: (id: string) => boolean;
  readonly open: (id: string) => SessionSource;
}
