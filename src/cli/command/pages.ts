/** `--page`: pages as people count them. They are those of the cursors, so that both show the same. */
import { PondError } from "../../base/errors.ts";

interface Page {
  readonly next_cursor?: string;
}

interface PageFlags {
  readonly page?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Asks for one page after another, up to the one that is wanted. */
export async function readPage<P extends Page>(
  { page, cursor }: PageFlags,
  ask: (page: { readonly cursor?: string }) => Promise<P>,
): Promise<P> {
  if (page !== undefined && cursor !== undefined)
    throw usage("--page and --cursor both say where to continue", "leave one of them out");
  if (page !== undefined && page < 1) throw usage(`there is no page ${page}`, "the first one is --page 1");
  let answer = await ask(cursor === undefined ? {} : { cursor });
  for (let at = 1; at < (page ?? 1); at++) {
    const { next_cursor: next } = answer;
    if (next === undefined)
      throw usage(
        `there is no page ${page}: ${at === 1 ? "all is on the first" : `the last one is ${at}`}`,
        `use --page ${at}`,
      );
    answer = await ask({ cursor: next });
  }
  return answer;
}

/** What asks for the page behind this one. Behind a cursor nobody counts. */
export function nextPage({ page = 1, cursor }: PageFlags): string | undefined {
  return cursor === undefined ? `--page ${page + 1}` : undefined;
}

const usage = (message: string, hint: string): PondError =>
  new PondError("validation_failed", message, { hint, data: { field: "page" } });
