/** What `get` answers, checked against its schema. */
import { expect } from "vitest";
import type { Context } from "../../src/handlers/index.ts";
import { get } from "../../src/handlers/index.ts";
import type { GetRequest, MessageResult, SessionResult } from "../../src/wire/index.ts";
import { getResponseSchema } from "../../src/wire/schema.ts";

export async function getSession(context: Context, request: GetRequest): Promise<SessionResult> {
  const response = await get(context, request);
  expect(getResponseSchema.safeParse(response).error).toBeUndefined();
  if (response.scope !== "session") throw new Error("a session was asked for");
  return response;
}

export async function getMessage(context: Context, request: GetRequest): Promise<MessageResult> {
  const response = await get(context, request);
  expect(getResponseSchema.safeParse(response).error).toBeUndefined();
  if (response.scope !== "message") throw new Error("a message was asked for");
  return response;
}
