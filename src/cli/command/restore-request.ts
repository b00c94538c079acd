/** Which state of a session is asked for, from the flags that `restore` and `resume` share. */
import { optionWords } from "../../base/shell.ts";
import type { RestoreRequest } from "../../wire/restore.ts";

interface StateFlags {
  readonly end: number | undefined;
  readonly source: string | undefined;
  readonly state: number | undefined;
}

/** The same as flags of a command to paste. */
export function stateWords({ end, source, state }: StateFlags): readonly string[] {
  return [
    ...(end === undefined ? [] : ["--end", String(end)]),
    ...(source === undefined ? [] : optionWords("--source", source)),
    ...(state === undefined ? [] : ["--state", String(state)]),
  ];
}

export function stateRequest({ end, source, state }: StateFlags): Pick<RestoreRequest, keyof StateFlags> {
  return {
    ...(end === undefined ? {} : { end }),
    ...(source === undefined ? {} : { source }),
    ...(state === undefined ? {} : { state }),
  };
}
