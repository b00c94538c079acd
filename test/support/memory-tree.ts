/** Trees over sessions in memory, with every look and read counted, and leaves that can be made bad. */
import type { EntityKey, Event, Session } from "../../src/model/index.ts";
import type {
  Fault,
  Found,
  Outcome,
  SessionOutline,
  TreeRef,
  TreeSource,
} from "../../src/model/tree/index.ts";
import type { SessionState } from "../../src/model/events/index.ts";
import { describeKey, entityKeyOf } from "../../src/model/index.ts";
import { entityOf, eventsOf } from "../../src/model/events/index.ts";
import { REF } from "../../src/model/tree/index.ts";

/** The description of the leaf. */
export interface MemoryRef extends TreeRef {
  readonly name: string;
}

export interface MemoryTree extends TreeSource<MemoryRef> {
  /** Every session whose messages were looked at, in order. */
  readonly looked: string[];
  /** Sessions whose parts were looked for. */
  readonly lookedForParts: string[];
  /** Every leaf that was read, in order, by its description. */
  readonly reads: string[];
  /** Faults by description: when a leaf is located (it is outlined without a reference then), or when it is read. */
  readonly unresolved: Map<string, Fault>;
  readonly unreadable: Map<string, Fault>;
}

export function memoryTree(states: readonly SessionState[]): MemoryTree {
  const byId = new Map(states.map((state) => [state.session.id, state]));
  const values = new Map<string, Event>();
  for (const state of states)
    for (const event of eventsOf(state)) values.set(describeKey(entityOf(event)), event);
  const looked: string[] = [];
  const lookedForParts: string[] = [];
  const reads: string[] = [];
  const unresolved = new Map<string, Fault>();
  const unreadable = new Map<string, Fault>();
  const refOf = (key: EntityKey): MemoryRef => ({ key: entityKeyOf(key), name: describeKey(key) });
  const located = <T extends EntityKey>(outline: T): T & { readonly [REF]?: MemoryRef } =>
    unresolved.has(describeKey(outline)) ? outline : { ...outline, [REF]: refOf(outline) };
  return {
    looked,
    lookedForParts,
    reads,
    unresolved,
    unreadable,
    session: (id) => {
      const outline = outlineOf(byId.get(id)?.session);
      return Promise.resolve(outline && located(outline));
    },
    children: (parents) =>
      found(
        states
          .filter(({ session }) => parents.includes(session.parent_session_id!))
          .map(({ session }) => located(outlineOf(session)!))
          .toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1)),
      ),
    messages: (id) => {
      looked.push(id);
      return found(
        (byId.get(id)?.messages ?? []).map(({ message, parts }) =>
          located({
            session_id: message.session_id,
            id: message.id,
            ...(message.seq === undefined ? {} : { seq: message.seq }),
            timestamp: message.timestamp,
            role: message.role,
            bytes: 10 + 100 * parts.length,
          }),
        ),
      );
    },
    parts: ({ session, messages }) => {
      lookedForParts.push(session);
      const ids = messages.map(({ id }) => id);
      const turns = (byId.get(session)?.messages ?? []).filter(({ message }) => ids.includes(message.id));
      return found(
        new Map(
          turns.map(({ message, parts }) => [
            message.id,
            parts.map(({ session_id, message_id, id, ordinal, type, provenance }) =>
              located({ session_id, message_id, id, ordinal, type, provenance }),
            ),
          ]),
        ),
      );
    },
    locate: (nodes) =>
      Promise.resolve(
        nodes.map((outline) => {
          const ref = refOf(outline);
          return outcome({ outline, ref }, unresolved.get(ref.name));
        }),
      ),
    bodies: (leaves) => {
      const names = leaves.map(({ ref }) => ref.name);
      reads.push(...names);
      return Promise.resolve(names.map((name) => outcome(values.get(name), unreadable.get(name))));
    },
  };
}

function outcome<T>(value: T | undefined, fault: Fault | undefined): Outcome<T> {
  if (fault !== undefined) return { ok: false, fault };
  if (value === undefined) return { ok: false, fault: { kind: "missing", message: "not there" } };
  return { ok: true, value };
}

const found = <T>(value: T): Promise<Found<T>> => Promise.resolve({ value, faults: [] });

function outlineOf(session: Session | undefined): SessionOutline | undefined {
  if (session === undefined) return undefined;
  const { id, parent_session_id, relation, source_agent, created_at } = session;
  return {
    id,
    ...(parent_session_id === undefined ? {} : { parent_session_id }),
    ...(relation === undefined ? {} : { relation }),
    source_agent,
    created_at,
  };
}
