/** The JSON Schema (2020-12) of the configuration file, made from the fields. Pure. */
import { fieldAt, namesBelow, variableOf } from "./schema.ts";

type Schema = Readonly<Record<string, unknown>>;

export function configJsonSchema(): Schema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "pond configuration (config.toml)",
    ...tableSchema([]),
  };
}

function tableSchema(path: readonly string[]): Schema {
  const members = namesBelow(path).map((name) => [name, memberSchema([...path, name])] as const);
  const any = members.find(([name]) => name === "*");
  if (any !== undefined) return { type: "object", additionalProperties: any[1] };
  return { type: "object", properties: Object.fromEntries(members), additionalProperties: false };
}

function memberSchema(path: readonly string[]): Schema {
  const field = fieldAt(path);
  if (field === undefined) return tableSchema(path);
  return {
    ...(field.type === "strings" ? { type: "array", items: { type: "string" } } : { type: field.type }),
    description: `${field.description} Environment: ${variableOf(field)}.`,
    ...(field.minimum !== undefined && { minimum: field.minimum }),
    ...(field.maximum !== undefined && { maximum: field.maximum }),
    ...(field.pattern !== undefined && { pattern: field.pattern.source }),
    ...(field.choices !== undefined && { enum: field.choices }),
    ...(field.default !== undefined && typeof field.default !== "function" && { default: field.default }),
  };
}
