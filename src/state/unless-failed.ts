/** For what is only of use: the file system saying no is no reason to end a sync there. */
import { errnoOf } from "../base/errors.ts";

export function unlessFailed<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
