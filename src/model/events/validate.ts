/**
 * The validator of the ingest path (spec.md#model-validation): the types of all fields, for programs that have none,
 * and the rules that a type cannot hold. It sees every event in order, allocates nothing on success, and is proven equal
 * to the schemas by a property test.
 */
import { roles } from "../enums.ts";
import type { FieldFault, Untyped } from "./fields.ts";
import { eventFault, isObject, messageFieldFault, partFieldFault, sessionFieldFault } from "./fields.ts";
import type { MessageKey } from "../ids.ts";
import { outsideMessageFault, outsidePartFault, outsideSessionFault } from "./outside.ts";
import type { Event, Message, Part, PartType, Role, Session } from "../types.ts";

export interface Violation {
  readonly rule:
    | "model-field-types"
    | "model-parent-pointer-coherence"
    | "model-project-non-empty"
    | "model-identity"
    | "model-role-allowlist"
    | "model-own-facts"
    | "adapter-bounded-values"
    | "adapter-integrity-event-ordering";
  readonly message: string;
  /** The field at fault, where it is one. */
  readonly field?: string;
  /** The open message, which is refused with its part: it would be stored half. */
  readonly alsoRefused?: MessageKey;
}

/** Which parts each role may hold. A system message is a carrier and may hold the files beside a log. */
const ALLOWED: Readonly<Record<Role, ReadonlySet<PartType>>> = {
  system: new Set<PartType>(["file"]),
  user: new Set<PartType>(["text", "file"]),
  assistant: new Set<PartType>([
    "text",
    "file",
    "reasoning",
    "tool_call",
    "tool_result",
    "tool_approval_request",
  ]),
  tool: new Set<PartType>(["tool_result", "tool_approval_response"]),
};

/** True where the model allows a part of this type in a message of this role. */
export function isAllowed(role: Role, type: PartType): boolean {
  return ALLOWED[role].has(type);
}

const rolesFor = (type: PartType): string => roles.filter((role) => isAllowed(role, type)).join(" or ");

/**
 * Checks one stream of events: Session first, then each Message followed by its Parts in ordinal order, before
 * the next Message. Sessions may follow one another; a session may come again, to go on where it stopped.
 */
export class EventValidator {
  /** The events are of a program outside, which is held to more. */
  readonly #isOutside: boolean;
  #session: Session | undefined;
  #message: Message | undefined;
  #ordinal = -1;
  /** Of the open message: its first part, and where the others are. Most messages have one. */
  #firstPart: Part | undefined;
  readonly #ordinals = new Map<string, number>();

  constructor({ isOutside = false }: { readonly isOutside?: boolean } = {}) {
    this.#isOutside = isOutside;
  }

  /** Undefined when the event is fine. After a violation the validator goes on with the next event. */
  check(event: Event): Violation | undefined {
    const fault = eventFault(event);
    // It may have been meant for a part of the open message.
    if (fault !== undefined) return this.#refuseMessage(eventShapeFault(fault));
    if (event.kind === "session") return this.#checkSession(event.session);
    if (event.kind === "message") return this.#checkMessage(event.message);
    return this.#checkPart(event.part);
  }

  #checkSession(session: Session): Violation | undefined {
    this.#session = undefined;
    this.#message = undefined;
    const fault = sessionFault(session) ?? (this.#isOutside ? outsideSessionFault(session) : undefined);
    if (fault === undefined) this.#session = session;
    return fault;
  }

  #checkMessage(message: Message): Violation | undefined {
    this.#message = undefined;
    this.#ordinal = -1;
    this.#firstPart = undefined;
    if (this.#ordinals.size > 0) this.#ordinals.clear();
    const fault = messageFieldFault(message);
    if (fault !== undefined) return typeViolation(named("message", message), fault);
    if (this.#session === undefined || message.session_id !== this.#session.id)
      return ordering(
        `message ${message.id} of session ${message.session_id} does not follow its session, or that was refused`,
      );
    if (!isId(message.id)) return identity(`a message has the id ${JSON.stringify(message.id)}`, "id");
    const refused = this.#isOutside ? outsideMessageFault(message) : undefined;
    if (refused === undefined) this.#message = message;
    return refused;
  }

  #checkPart(part: Part): Violation | undefined {
    const message = this.#message;
    const fault = partFieldFault(part);
    if (fault !== undefined) {
      const violation = typeViolation(named("part", part), fault);
      return isOfAnother(part, message) ? violation : this.#refuseMessage(violation);
    }
    if (message === undefined || part.message_id !== message.id || part.session_id !== message.session_id)
      return ordering(
        `part ${part.id} of message ${part.message_id} does not follow its message, or that was refused`,
      );
    const broken = this.#partFault(part, message);
    if (broken !== undefined) return this.#refuseMessage(broken);
    this.#ordinal = part.ordinal;
    if (this.#firstPart === undefined) this.#firstPart = part;
    else this.#ordinals.set(part.id, part.ordinal);
    return undefined;
  }

  #partFault(part: Part, message: Message): Violation | undefined {
    if (!isId(part.id))
      return identity(`a part of message ${message.id} has the id ${JSON.stringify(part.id)}`, "id");
    const other = this.#firstPart?.id === part.id ? this.#firstPart.ordinal : this.#ordinals.get(part.id);
    if (other !== undefined)
      return identity(
        `two parts of message ${message.id} have the id ${JSON.stringify(part.id)}, those with the ordinals ${other} and ${part.ordinal}: ids are unique in their message`,
        "id",
      );
    if (part.ordinal <= this.#ordinal)
      return ordering(
        `part ${part.id} of message ${message.id} has ordinal ${part.ordinal} after ${this.#ordinal}`,
      );
    if (!isAllowed(message.role, part.type))
      return {
        rule: "model-role-allowlist",
        message: `a ${part.type} part is not allowed in a ${message.role} message (${message.id}); its role may be ${rolesFor(part.type)}`,
      };
    return this.#isOutside ? outsidePartFault(part) : undefined;
  }

  /** A message without one of its parts would stay so: rows never change, and the first one counts. */
  #refuseMessage(violation: Violation): Violation {
    const message = this.#message;
    this.#message = undefined;
    if (message === undefined) return violation;
    return { ...violation, alsoRefused: { session_id: message.session_id, id: message.id } };
  }
}

/** The rules of a session on its own. */
export function sessionFault(session: Session): Violation | undefined {
  const fault = sessionFieldFault(session);
  if (fault !== undefined) return typeViolation(named("session", session), fault);
  if (!isId(session.id)) return identity(`a session has the id ${JSON.stringify(session.id)}`, "id");
  for (const field of NAMES)
    if (!isId(session[field] ?? "-"))
      return identity(
        `session ${session.id}: ${field} must be a text that is not empty and holds no lone surrogate, not ${JSON.stringify(session[field])}`,
        field,
      );
  if (session.project === "")
    return {
      rule: "model-project-non-empty",
      message: `session ${session.id}: project must not be empty: a folder, or the nearest scope that there is`,
      field: "project",
    };
  if (session.parent_message_id !== undefined && session.parent_session_id === undefined)
    return {
      rule: "model-parent-pointer-coherence",
      message: `session ${session.id} has parent_message_id without parent_session_id`,
      field: "parent_message_id",
    };
  return undefined;
}

/** The rules of a message on its own. */
export function messageFault(message: Message): Violation | undefined {
  const fault = messageFieldFault(message);
  if (fault !== undefined) return typeViolation(named("message", message), fault);
  return isId(message.id) && isId(message.session_id)
    ? undefined
    : identity(
        `a message has the id ${JSON.stringify(message.id)} in session ${JSON.stringify(message.session_id)}`,
        isId(message.id) ? "session_id" : "id",
      );
}

/** The rules of a part on its own. */
export function partFault(part: Part): Violation | undefined {
  const fault = partFieldFault(part);
  if (fault !== undefined) return typeViolation(named("part", part), fault);
  const field = (["id", "message_id", "session_id"] as const).find((name) => !isId(part[name]));
  return field === undefined
    ? undefined
    : identity(`a part of message ${part.message_id} has the ${field} ${JSON.stringify(part[field])}`, field);
}

/** What is wrong with an event as such. */
export const eventShapeFault = (fault: FieldFault): Violation => typeViolation("an event", fault);

const NAMES = ["source_agent", "parent_session_id", "parent_message_id"] as const;

/** Ids are keys, and a key column holds UTF-8: a lone surrogate has no spelling there. */
const isId = (id: string): boolean => id !== "" && id.isWellFormed();

/** True where a part of the wrong type names, all the same, a message that is not the open one. */
function isOfAnother(part: unknown, open: Message | undefined): boolean {
  if (open === undefined || !isObject(part)) return false;
  const { message_id, session_id } = part;
  const names = (id: unknown, own: string): boolean => typeof id !== "string" || id === own;
  return !names(message_id, open.id) || !names(session_id, open.session_id);
}

/** What can be told of an object that may be anything. */
function named(what: string, value: unknown): string {
  const { id, message_id }: Untyped = isObject(value) ? value : {};
  const owner = typeof message_id === "string" ? ` of message ${message_id.slice(0, 200)}` : "";
  return (typeof id === "string" && id !== "" ? `${what} ${id.slice(0, 200)}` : `a ${what}`) + owner;
}

const typeViolation = (whose: string, { field, message }: FieldFault): Violation => ({
  rule: "model-field-types",
  message: field === "" ? `${whose} ${message}` : `${whose}: ${field} ${message}`,
  ...(field === "" ? {} : { field }),
});
const ordering = (message: string): Violation => ({ rule: "adapter-integrity-event-ordering", message });
const identity = (message: string, field: string): Violation => ({ rule: "model-identity", message, field });
