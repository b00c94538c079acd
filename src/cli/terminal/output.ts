/**
 * The one place that prints (spec.md#cli-output): stdout is the result, stderr the rest. Writes are synchronous, so
 * that nothing is lost at exit and a reader that went away (EPIPE) is known at once. What is printed cannot steer a
 * terminal, whoever made it: sessions, file names, the engine (spec.md#cli-safe-output).
 */
import { fstatSync, writeSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { systemClock } from "../../base/clock.ts";
import { errnoOf, errorBody, PondError, toPondError } from "../../base/errors.ts";
import { printJson } from "../../base/json/json.ts";
import { maskSecrets } from "../../base/secrets.ts";
import { createStyle } from "./style.ts";
import type { Style } from "./style.ts";
import { renderTable } from "./table.ts";
import type { Column } from "./table.ts";
import { displayWidth, oneLine, safeJson, safeLine, safeLines, shorten } from "./text.ts";

/** The reader of stdout went away: the command ends quietly. */
export class ClosedPipe extends Error {
  override readonly name = "ClosedPipe";
}

/** What printed commands need that the run itself was given (spec.md#cli-next-steps). */
export interface CarriedFlags {
  /** Looks for commands of pond in what is printed for people. */
  look(text: string): void;
  /** What to add to the commands that were seen since the last call; undefined where there were none. */
  take(): string | undefined;
}

export interface OutputSettings {
  readonly json: boolean;
  readonly verbose: boolean;
  readonly quiet: boolean;
  /** TERM=dumb (an editor's shell): no line can be taken back, progress is told as in a pipe. */
  readonly isDumb?: boolean;
  /** The machine's own unless a test has another. */
  readonly clock?: Pick<Clock, "now">;
  /** What printed commands lack; nothing when absent. */
  readonly carried?: CarriedFlags;
  /** Whether a stream gets colours. */
  color(sink: Pick<Sink, "isTerminal">): boolean;
}

export interface Sink {
  readonly isTerminal: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  write(chunk: string | Uint8Array): void;
}

export interface Output {
  readonly json: boolean;
  readonly verbose: boolean;
  /** Styles for stdout; they do nothing where there are no colours. */
  readonly style: Style;
  /** Columns of the terminal on stdout; undefined where there is none. */
  readonly width: number | undefined;
  /** The answer of a verb: its value as one JSON document with --json, else rendered for people. */
  result<T>(value: T, render: (value: T) => string): void;
  /** Rows as text for `result`: aligned to the terminal, or tab-separated in a pipe. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string;
  /** A line of the result. */
  print(text: string): void;
  /** For people, on stderr: what was done, what to know. Silent with --quiet. */
  note(text: string): void;
  /** On stderr, with --verbose only. */
  detail(text: string): void;
  /**
   * How far a verb is, on stderr; `share` of its work, 0 to 1, where that is known. On a terminal a line that the next
   * one replaces and undefined takes away; elsewhere a line of its own now and then, from a few seconds on.
   */
  progress(text: string | undefined, share?: number): void;
  /** What went wrong, and the fix. */
  error(error: PondError): void;
  /** Everything is said, or the terminal is another's from now on: what the commands that were printed lack. */
  conclude(): void;
}

/** The real streams of this process. */
export function processSinks(): { readonly stdout: Sink; readonly stderr: Sink } {
  return {
    stdout: {
      isTerminal: isTerminal(1),
      get width() {
        return process.stdout.columns || DEFAULT_WIDTH;
      },
      write(chunk) {
        try {
          if (chunk.length < PIPE_SIZE) writeAll(1, chunk);
          else interruptibly(() => writeAll(1, chunk));
        } catch (error) {
          if (errnoOf(error) === "EPIPE") throw new ClosedPipe("stdout is closed");
          throw notWritten(error);
        }
      },
    },
    stderr: {
      isTerminal: isTerminal(2),
      get width() {
        return process.stderr.columns || DEFAULT_WIDTH;
      },
      write(chunk) {
        try {
          writeAll(2, chunk);
        } catch {
          // Nobody is left to tell; the result on stdout still counts.
        }
      },
    },
  };
}

/** A full disk here is that of where the output goes: nothing of the store is at fault. */
function notWritten(error: unknown): PondError {
  const isFull = ["ENOSPC", "EDQUOT"].includes(errnoOf(error) ?? "");
  const why = isFull ? "the disk it is written to is full" : toPondError(error).message;
  return new PondError("internal", `the output cannot be written: ${why}`, {
    hint: "send the output elsewhere",
    cause: error,
  });
}

/** node:tty is loaded only for what may be a terminal: it costs a start 3 ms. */
function isTerminal(descriptor: number): boolean {
  try {
    return (
      fstatSync(descriptor).isCharacterDevice() && process.getBuiltinModule("node:tty").isatty(descriptor)
    );
  } catch {
    // Closed by who started pond.
    return false;
  }
}

/** The stream on which questions are asked. */
export function terminal(): NodeJS.WritableStream {
  return process.stderr;
}

const DEFAULT_WIDTH = 80;

function writeAll(fd: number, chunk: string | Uint8Array): void {
  let rest: Uint8Array = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (errnoOf(error) !== "EAGAIN") throw error;
      // Another process made the pipe non-blocking and its reader is slow: wait for room.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/**
 * A reader that does not read keeps the main thread in its write, where no handler runs: meanwhile signals do what they do
 * to any program, and end it (spec.md#cli-signals). The result is being printed, so that nothing is half done.
 */
function interruptibly(write: () => void): void {
  const handlers = SIGNALS.map((name) => [name, process.listeners(name)] as const);
  for (const [name, listeners] of handlers)
    for (const listener of listeners) process.removeListener(name, listener);
  try {
    write();
  } finally {
    for (const [name, listeners] of handlers) for (const listener of listeners) process.on(name, listener);
  }
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** What a pipe takes without a reader. Shorter writes keep the handlers: who answers to their text with a signal is heard. */
const PIPE_SIZE = 65_536;

export interface Sinks {
  readonly stdout: Sink;
  readonly stderr: Sink;
}

export function createOutput({ stdout, stderr }: Sinks, settings: OutputSettings): Output {
  const { clock = systemClock, carried } = settings;
  const style = createStyle(settings.color(stdout));
  const errorStyle = createStyle(settings.color(stderr));
  const lines = (text: string): string => {
    carried?.look(text);
    return safeLines(line(text), settings.color(stdout));
  };
  let shown = false;
  let hasFailed = false;
  let nextPlain = clock.now() + PLAIN_MS.first;
  const clear = (): void => {
    if (shown) stderr.write("\r\x1b[K");
    shown = false;
  };
  const say = (text: string): void => {
    clear();
    stderr.write(safeLines(line(text), settings.color(stderr)));
  };
  const write = (chunk: string): void => {
    clear();
    stdout.write(chunk);
  };
  const output: Output = {
    json: settings.json,
    verbose: settings.verbose,
    style,
    width: stdout.isTerminal ? stdout.width : undefined,
    result(value, render) {
      if (settings.json) return write(`${safeJson(printJson(value, stdout.isTerminal ? 2 : 0))}\n`);
      const text = render(value);
      if (text !== "") write(lines(text));
    },
    table: (rows, columns) =>
      renderTable(rows, columns, { width: stdout.isTerminal ? stdout.width : undefined, style }),
    print: (text) => write(lines(text)),
    note: (text) => {
      if (settings.quiet) return;
      carried?.look(text);
      say(maskSecrets(text));
    },
    detail: (text) => {
      if (settings.verbose) say(errorStyle.dim(maskSecrets(text)));
    },
    progress(news, share) {
      if (settings.quiet) return;
      clear();
      if (news === undefined) return;
      const text = oneLine(news);
      if (stderr.isTerminal && settings.isDumb !== true) {
        const width = stderr.width - 1;
        stderr.write(shorten(barOf(share, width - displayWidth(text)) + text, width));
        shown = true;
      } else if (clock.now() >= nextPlain) {
        nextPlain = clock.now() + PLAIN_MS.every;
        stderr.write(line(share === undefined ? text : `${Math.floor(share * 100)}% ${text}`));
      }
    },
    error: (error) => {
      hasFailed = true;
      carried?.look(error.hint ?? "");
      say(settings.json ? safeJson(JSON.stringify(errorBody(error))) : renderError(error, errorStyle));
      if (settings.verbose && error.stack !== undefined) say(errorStyle.dim(maskSecrets(stackOf(error))));
    },
    conclude() {
      const missing = carried?.take();
      // To who reads documents it is no news. With --quiet it belongs to the fix of an error, and to nothing else.
      if (missing === undefined || settings.json || (settings.quiet && !hasFailed)) return;
      say(maskSecrets(missing));
    },
  };
  return output;
}

/** Characters of a progress bar, of the room that the text leaves; the text tells more than a short bar. */
const BAR = { most: 20, least: 5 };

function barOf(share: number | undefined, room: number): string {
  const length = Math.min(BAR.most, room - "[] ".length);
  if (share === undefined || length < BAR.least) return "";
  return `[${"#".repeat(Math.round(share * length)).padEnd(length, ".")}] `;
}

/** Milliseconds between lines of progress where no terminal replaces them. */
const PLAIN_MS = { first: 3000, every: 10_000 };

const line = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

function renderError(error: PondError, style: Style): string {
  const what = `${style.bad("pond:")} ${safeLine(maskSecrets(error.message))}`;
  return error.hint === undefined
    ? what
    : `${what}\n  ${style.bold("fix:")} ${safeLine(maskSecrets(error.hint))}`;
}

/** With the stacks of the causes: the cause is mostly what one looks for. */
function stackOf(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\ncaused by: ${stackOf(error.cause)}` : stack;
}
