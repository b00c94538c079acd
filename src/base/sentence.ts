/**
 * Text for people that names operations and fields of requests as data: each surface has its own words for them, a command
 * with flags or a tool with arguments. What a surface does not word is readable as it is (`plainText`).
 */

/** A value that is known, or one for the reader to choose. */
export type StepValue = string | { readonly choose: string };

/** What to do next: an operation, with the fields of its request that matter. */
export type NextStep =
  | { readonly do: "adapters" | "doctor" | "get" | "repair" | "sessions" }
  /** The settings in force; every setting that there is. */
  | { readonly do: "show_settings" | "describe_settings" }
  | { readonly do: "search"; readonly query?: string }
  | {
      readonly do: "sync";
      readonly adapters?: StepValue;
      readonly paths?: StepValue;
      readonly stages?: "embed" | "update-indexes";
    }
  | { readonly do: "verify"; readonly stored?: true }
  | {
      readonly do: "restore";
      readonly session_id: StepValue;
      readonly to?: StepValue;
      readonly out?: StepValue;
      readonly map_paths?: string;
      /** Of another store than the one in use. */
      readonly store?: StepValue;
    }
  /** A restore that starts the client. */
  | {
      readonly do: "resume";
      readonly session_id?: string;
      readonly to?: StepValue;
      readonly source?: string;
    };

/** A field of a request, by its name there. */
export interface FieldName {
  readonly field:
    | "adapters"
    | "config"
    | "end"
    | "map_paths"
    | "out"
    | "paths"
    | "source"
    | "state"
    | "stored"
    | "wait";
}

type Piece = string | NextStep | FieldName;

export type Sentence = string | readonly Piece[];

/** `sentence\`run ${{ do: "repair" }}\``: text with steps, fields and other sentences in it. */
export function sentence(
  text: TemplateStringsArray,
  ...values: readonly (Sentence | NextStep | FieldName | number)[]
): Sentence {
  const pieces = text.flatMap((before, at): readonly Piece[] => {
    const value = values[at] ?? "";
    if (typeof value === "number") return [before, String(value)];
    return isPieces(value) ? [before, ...value] : [before, value];
  });
  return pieces.filter((piece) => piece !== "");
}

const isPieces = (value: Sentence | NextStep | FieldName): value is readonly Piece[] => Array.isArray(value);

/** The text, with each step and field in the words of a surface. */
export function wordWith(
  text: Sentence,
  words: { readonly step: (step: NextStep) => string; readonly field: (field: FieldName["field"]) => string },
): string {
  if (typeof text === "string") return text;
  return text
    .map((piece) =>
      typeof piece === "string" ? piece : "do" in piece ? words.step(piece) : words.field(piece.field),
    )
    .join("");
}

/** Without a surface: operations and fields by their own names. */
export const plainText = (text: Sentence): string =>
  wordWith(text, { step: plainStep, field: (name) => name });

function plainStep({ do: operation, ...fields }: NextStep): string {
  const given = Object.entries(fields).map(([name, value]) => `${name}: ${plainValue(value)}`);
  return given.length === 0 ? operation : `${operation} (${given.join(", ")})`;
}

const plainValue = (value: StepValue | boolean): string =>
  typeof value === "object" ? `<${value.choose}>` : String(value);

/** The steps that it names, in its order. */
export function stepsIn(text: Sentence = ""): readonly NextStep[] {
  if (typeof text === "string") return [];
  return text.flatMap((piece) => (typeof piece === "object" && "do" in piece ? [piece] : []));
}
