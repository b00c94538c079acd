/** Which state of a session is asked for, from the flags that `restore` and `resume` share. */
import type { RestoreRequest } from "../handlers/index.ts";

interface StateFlags {
  readonly end: number | undefined;
  readonly source: string | undefined;
  readonly state: number | undefined;
}

export function stateRequest({ end, source, state }: StateFlags): Pick<RestoreRequest, keyof StateFlags> {
  return {
    ...(end === undefined ? {} : { end }),
    ...(source === undefined ? {} : { source }),
    ...(state === undefined ? {} : { state }),
  };
}
