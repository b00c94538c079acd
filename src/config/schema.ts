/**
 * Every setting of pond, as data (spec.md#config-fields): adding one is one entry here. Its type in Config, its
 * environment variable, its check, its line in `pond config show` and its place in the JSON Schema follow.
 */
import type { Paths } from "./paths.ts";

interface ValueTypes {
  readonly string: string;
  readonly boolean: boolean;
  readonly integer: number;
  readonly strings: readonly string[];
}
export type FieldType = keyof ValueTypes;
export type FieldValue = ValueTypes[FieldType];

export interface Field {
  /** Dotted path in the file; `*` stands for one name of the user's. */
  readonly key: string;
  readonly type: FieldType;
  readonly description: string;
  readonly default?: FieldValue | ((paths: Paths) => string);
  /** Where the variable is not the one derived from the key. */
  readonly env?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: RegExp;
  /** What the pattern allows, in words. */
  readonly patternHint?: string;
  /** The only texts that it takes. */
  readonly choices?: readonly string[];
  /** Shown masked: always, or where the user's name for it sounds like a credential. */
  readonly secret?: "always" | "by-name";
  /** How text becomes the value: a path or URL of a store, or paths; `~` and relative ones are made absolute. */
  readonly format?: "store" | "path";
}

/** It becomes the name of a folder. */
export const NAMESPACE_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

const SHA256_PATTERN = /^[0-9A-Fa-f]{64}$/;

export const FIELDS = [
  {
    key: "storage.url",
    type: "string",
    description:
      "Where the store is: a path, or a file://, s3://, gs://, az:// or memory:// URL. Default: `store` in pond's data folder.",
    default: (paths: Paths) => `${paths.data}/store`,
    env: "POND_STORE",
    format: "store",
  },
  {
    key: "storage.namespace",
    type: "string",
    description: "The namespace in the store that commands read and write.",
    default: "default",
    pattern: NAMESPACE_PATTERN,
    patternHint: "use letters, digits, dots, dashes and underscores, at most 128",
  },
  {
    key: "storage.options.*",
    type: "string",
    description: "Passed to the object store unchanged, for example aws_region or aws_endpoint.",
    secret: "by-name",
  },
  {
    key: "adapters.*.enabled",
    type: "boolean",
    description: "Whether sync reads this client. Default: yes, where the client is found.",
  },
  {
    key: "adapters.*.paths",
    type: "strings",
    description: "Folders or single session files to read instead of the client's default place.",
    format: "path",
  },
  {
    key: "sync.batch_rows",
    type: "integer",
    description: "Rows written in one commit, at most.",
    default: 30_000,
    minimum: 1,
  },
  {
    key: "sync.batch_bytes",
    type: "integer",
    description: "Bytes written in one commit, at most.",
    default: 10_000_000,
    minimum: 1_000_000,
    maximum: 64_000_000,
  },
  {
    key: "sync.threads",
    type: "integer",
    description: "Threads that read sources, at most. Default: one less than the machine's cores, up to 4.",
    minimum: 1,
    maximum: 64,
  },
  {
    key: "embeddings.provider",
    type: "string",
    description:
      "Who makes the vectors for search by meaning; static: a table that comes with pond; none: search by words alone, and no model is loaded.",
    default: "static",
    choices: ["none", "static", "onnx", "openai", "ollama", "voyage", "cohere", "gemini"],
  },
  {
    key: "embeddings.model",
    type: "string",
    description:
      "The model, as its provider calls it. Default: one of the provider's, where it is asked at its own address.",
  },
  {
    key: "embeddings.url",
    type: "string",
    description:
      "Where the service is, without the last part of its paths: https://host/v1 for whatever answers like OpenAI, http://127.0.0.1:11434 for Ollama. Default: the provider's own address.",
  },
  {
    key: "embeddings.dimension",
    type: "integer",
    description: "Numbers of a vector, for models that can be asked for fewer. Default: the model's own.",
    minimum: 1,
    maximum: 65_536,
  },
  {
    key: "embeddings.window",
    type: "integer",
    description:
      "Tokens of a text that are embedded; the rest is cut off and counted. Default: what the provider's models read, 512 for Ollama.",
    minimum: 16,
    maximum: 1_000_000,
  },
  {
    key: "embeddings.api_key",
    type: "string",
    description: "The key of the service. Better in the variable or in a file of its own than here.",
    secret: "always",
  },
  {
    key: "embeddings.api_key_file",
    type: "string",
    description: "A file that has the key of the service and nothing else.",
    format: "path",
  },
  {
    key: "embeddings.folder",
    type: "string",
    description: "For onnx: the folder of the model, with its weights (model.onnx) and its vocabulary.",
    format: "path",
  },
  {
    key: "embeddings.sha256",
    type: "string",
    description: "For onnx: the SHA-256 of the weights, in hexadecimal; other weights are refused.",
    pattern: SHA256_PATTERN,
    patternHint: "write its 64 hexadecimal digits, as sha256sum prints them",
  },
  {
    key: "embeddings.nprobes",
    type: "integer",
    description: "Parts of the index of vectors that a search looks into: more find more and take longer.",
    minimum: 1,
    maximum: 100_000,
  },
  {
    key: "embeddings.refine_factor",
    type: "integer",
    description:
      "How many times the wanted vectors are compared exactly behind the index of vectors: more are more exact and take longer.",
    minimum: 1,
    maximum: 1_000,
  },
] as const satisfies readonly Field[];

type Fields = (typeof FIELDS)[number];
export type FieldKey = Fields["key"];

type ValueOf<F> = F extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : F extends { readonly type: infer Type extends FieldType }
    ? ValueTypes[Type]
    : never;

/** One field as a nested object type; a leaf without a default may be missing. */
type Nested<Key extends string, F extends Field> = Key extends `${infer Head}.${infer Rest}`
  ? { readonly [Name in Head as Name extends "*" ? string : Name]: Nested<Rest, F> }
  : Key extends "*"
    ? { readonly [name: string]: ValueOf<F> }
    : F extends { readonly default: unknown }
      ? { readonly [Name in Key]: ValueOf<F> }
      : { readonly [Name in Key]?: ValueOf<F> };

type Merged<Union> = (Union extends unknown ? (value: Union) => void : never) extends (
  value: infer All,
) => void
  ? All
  : never;

/** The settings in force, nested as in the file: `config.storage.url`, `config.adapters["codex-cli"]?.paths`. */
export type Config = Merged<Fields extends infer F ? (F extends Field ? Nested<F["key"], F> : never) : never>;

/** `storage.options.*` as the names between the dots. */
export const segments = (key: string): readonly string[] => key.split(".");

/** The field that a concrete path names, if any. */
export function fieldAt(path: readonly string[]): Field | undefined {
  return FIELDS.find((field) => {
    const names = segments(field.key);
    return names.length === path.length && names.every((name, i) => name === "*" || name === path[i]);
  });
}

/** The names that may stand below a concrete path; `*` where any may. Empty when the path holds no table. */
export function namesBelow(path: readonly string[]): readonly string[] {
  const below = FIELDS.map((field) => segments(field.key)).filter(
    (names) => names.length > path.length && path.every((name, i) => names[i] === "*" || names[i] === name),
  );
  return [...new Set(below.map((names) => names[path.length] ?? ""))];
}

/** The environment variable of a field; `<NAME>` where the key has `*`. */
export const variableOf = (field: Field): string =>
  field.env ?? `POND_${segments(field.key).join("_").toUpperCase().replace("*", "<NAME>")}`;
