/** Proof that the six kinds of synthesis do not compile (spec.md#model-no-synthesis). Checked by plain tsc. */
import type { JsonObject } from "../../../base/json/json.ts";
import { optional } from "../../../base/optional.ts";
import type { Extracted, Part } from "../../../model/index.ts";
import {
  extractBoolean,
  extractCompact,
  extractFromPath,
  extractJson,
  extractString,
  extractWhole,
} from "./extract.ts";
import type { PartDraft } from "../session/session-log.ts";

declare const record: JsonObject;
declare const name: Extracted<string>;

export const fromSource: PartDraft = {
  type: "tool_call",
  provenance: "conversational",
  name,
  ...optional("call_id", extractString(record, "id")),
};

// @ts-expect-error a literal sentinel is not a source value
export const sentinel: PartDraft = { type: "text", provenance: "injected", text: "unknown" };

// @ts-expect-error nor is a default behind ??
export const fallback: Extracted<string> = extractString(record, "text") ?? "unknown";

// @ts-expect-error the empty string is a value like any other
export const empty: PartDraft = { type: "text", provenance: "injected", text: "" };

// @ts-expect-error a flag that the source did not carry is absent, not false
export const flag: Extracted<boolean> = extractBoolean(record, "is_error") ?? false;

// @ts-expect-error a text built around source values was never in the source
export const template: PartDraft = { type: "text", provenance: "injected", text: `${name}!` };

// @ts-expect-error absence is the missing key, not undefined
export const absent: PartDraft = { type: "text", provenance: "injected", text: undefined };

// @ts-expect-error JSON values are sealed as well
export const params: PartDraft = { type: "tool_call", provenance: "conversational", params: {} };

// @ts-expect-error provenance has no default (spec.md#adapter-provenance-required)
export const unclassified: PartDraft = { type: "text", text: name };

// @ts-expect-error a part outside the kit needs its keys too
export const part: Part = { type: "text", provenance: "injected", text: name };

export const json: PartDraft = {
  type: "tool_call",
  provenance: "conversational",
  ...optional("params", extractJson(record, "input")),
};

declare const folder: string;

export const named = extractFromPath(folder);
export const whole = [extractWhole(record), extractCompact(record)];

// @ts-expect-error what is written in the code was never in a path
export const literal = extractFromPath("unknown");

// @ts-expect-error nor is it a value of the source
export const literalValue = extractWhole("unknown");

// @ts-expect-error nor an object that the code made
export const literalObject = extractWhole({ kind: "unknown" });

// @ts-expect-error in whatever form
export const literalText = extractCompact({ kind: "unknown" });
