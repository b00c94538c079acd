/** A body of the wire against its schema: the envelope first, then every fault of the rest at once. */
import type { z } from "zod";
import { PondError } from "../base/errors.ts";
import { PROTOCOL_VERSION } from "./limits.ts";

/** The request, its envelope still on it. Throws `version_unsupported` or `validation_failed`. */
export function parseRequest<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const version = isObject(body) ? body["protocol_version"] : undefined;
  if (version !== undefined && version !== PROTOCOL_VERSION)
    throw new PondError(
      "version_unsupported",
      `protocol_version ${JSON.stringify(version)} is not supported`,
      {
        hint: `send protocol_version ${PROTOCOL_VERSION}`,
        data: { received: version, supported: [PROTOCOL_VERSION] },
      },
    );
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => ({ field: path.join("."), message }));
  const [first] = issues;
  const where = first === undefined || first.field === "" ? "the request" : first.field;
  throw new PondError("validation_failed", `${where}: ${first?.message ?? "not valid"}`, {
    hint: "see the published JSON Schema of the request",
    data: { issues },
  });
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
