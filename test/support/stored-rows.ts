/** Rows that no sync would store, to see that they are noticed. */
import type { Context } from "../../src/handlers/index.ts";
import { PARTS } from "../../src/sessions/index.ts";

/** A text behind the parts of a model's answer, as if another one had been stored. */
export async function addPart(context: Context): Promise<void> {
  const { parts } = (await context.store()).tables;
  const rows = await parts.scan({ select: ["session_id", "message_id", "type", "variant_data"] });
  const row = Array.from({ length: rows.length }, (_, at) => at).findLast(
    (at) => rows.string("type", at) === "text" && rows.string("variant_data", at).includes("It is"),
  )!;
  await parts.insertRows([
    {
      ...Object.fromEntries(Object.keys(PARTS.columns).map((name) => [name, null])),
      session_id: rows.string("session_id", row),
      message_id: rows.string("message_id", row),
      id: "another",
      ordinal: 99,
      type: "text",
      provenance: "conversational",
      variant_data: '{"text":"and more"}',
      options: "{}",
    } as never,
  ]);
}
