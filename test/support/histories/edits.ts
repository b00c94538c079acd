/** What an operation makes of a state. Undefined: there is nothing that it could change. */
import type { Operation } from "./operations.ts";
import type { Draft, SessionNumber, SourceModel, State, Turn } from "./source-model.ts";
import { closed, reword } from "./source-model.ts";

/** Operations that change one source by what it holds itself. */
export type Edit = Extract<Operation, { kind: (typeof EDITS)[number] }>;

const EDITS = ["append", "tear", "truncate", "drop", "rewrite", "rewrite all", "side file"] as const;

export function isEdit(operation: Operation): operation is Edit {
  return (EDITS as readonly string[]).includes(operation.kind);
}

export interface Editing {
  readonly model: SourceModel;
  readonly session: SessionNumber;
  /** What the next record is made of: each time another one. */
  readonly draft: (turn: Turn) => Draft;
}

export function edited(state: State | undefined, edit: Edit, editing: Editing): State | undefined {
  const { model, session } = editing;
  if (edit.kind === "append")
    return model.append(closed(state ?? model.start(session)), editing.draft(edit.turn), session);
  if (state === undefined) return undefined;
  if (edit.kind === "tear") return torn(state, edit, editing);
  if (edit.kind === "side file") return withSide(state, edit, editing);
  const whole = closed(state);
  const head = whole.entries.slice(0, model.heads);
  const rest = whole.entries.slice(model.heads);
  if (edit.kind === "rewrite all") {
    let anew: State = { ...whole, entries: head };
    for (const turn of edit.turns) anew = model.append(anew, editing.draft(turn), session);
    return anew;
  }
  if (rest.length === 0) return undefined;
  if (edit.kind === "truncate") return { ...whole, entries: [...head, ...rest.slice(0, -edit.count)] };
  const index = edit.at % rest.length;
  if (edit.kind === "drop") return { ...whole, entries: [...head, ...rest.toSpliced(index, 1)] };
  const entry = rest[index]!;
  const { word, at } = editing.draft("prompt");
  const anew = reword(entry, edit.isSameLength ? word : `${word}andmore`, edit.isQuiet ? entry.at : at);
  return { ...whole, entries: [...head, ...rest.with(index, anew)] };
}

function torn(
  state: State,
  { turn, isWhole }: Extract<Edit, { kind: "tear" }>,
  { model, session, draft }: Editing,
): State | undefined {
  if (!model.isLog) return undefined;
  const { entries, ...rest } = model.append(closed(state), draft(turn), session);
  return { ...rest, entries: entries.slice(0, -1), open: { entry: entries.at(-1)!, isWhole } };
}

function withSide(
  state: State,
  { file, content }: Extract<Edit, { kind: "side file" }>,
  { model, session }: Editing,
): State | undefined {
  const names = model.sideNames(session);
  const name = names[file % names.length];
  if (name === undefined) return undefined;
  const { [name]: before, ...others } = state.sides;
  if (content === "gone") return before === undefined ? undefined : { ...state, sides: others };
  return { ...state, sides: { ...others, [name]: model.sideContent(content) } };
}
