/** A command that was typed so that it cannot be run: what is wrong with it, and what to type. */
import { PondError } from "../../base/errors.ts";

export const usage = (message: string, hint: string): PondError =>
  new PondError("validation_failed", message, { hint });
