/** Trees over sessions in memory, with every look and read counted, and leaves that can be made bad. */
import type {
  Event,
  Fault,
  Found,
  Outcome,
  PlanNode,
  Session,
  SessionOutline,
  SessionState,
  TreeSource,
} from "../../src/model/index.ts";
import { describeKey, entityOf, eventsOf } from "../../src/model/index.ts";

export interface MemoryTree extends TreeSource<string> {
  /** Every session whose messages were looked at, in order. */
  readonly looked: string[];
  /** Sessions whose parts were looked for. */
  readonly lookedForParts: string[];
  /** Every leaf that was read, in order; a reference is the leaf's description. */
  readonly reads: string[];
  /** Faults by description: when a leaf is resolved, or when it is read. */
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
  return {
    looked,
    lookedForParts,
    reads,
    unresolved,
    unreadable,
    session: (id) => Promise.resolve(outlineOf(byId.get(id)?.session)),
    children: (parents) =>
      found(
        states
          .filter(({ session }) => parents.includes(session.parent_session_id!))
          .map(({ session }) => outlineOf(session)!)
          .toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1)),
      ),
    messages: (id) => {
      looked.push(id);
      return found(
        (byId.get(id)?.messages ?? []).map(({ message, parts }) => ({
          session_id: message.session_id,
          id: message.id,
          ...(message.seq === undefined ? {} : { seq: message.seq }),
          timestamp: message.timestamp,
          role: message.role,
          bytes: 10 + 100 * parts.length,
        })),
      );
    },
    parts: ({ session, messages }) => {
      lookedForParts.push(session);
      const turns = (byId.get(session)?.messages ?? []).filter(({ message }) =>
        messages.includes(message.id),
      );
      return found(
        new Map(
          turns.map(({ message, parts }) => [
            message.id,
            parts.map(({ session_id, message_id, id, ordinal, type, provenance }) => ({
              session_id,
              message_id,
              id,
              ordinal,
              type,
              provenance,
            })),
          ]),
        ),
      );
    },
    resolve: (nodes) => Promise.resolve(nodes.map((node) => resolved(node))),
    read: (refs) => {
      reads.push(...refs);
      return Promise.resolve(refs.map((ref) => outcome(values.get(ref), unreadable.get(ref))));
    },
  };

  function resolved(node: PlanNode): Outcome<string> {
    const ref = describeKey(node);
    return outcome(ref, unresolved.get(ref));
  }
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
