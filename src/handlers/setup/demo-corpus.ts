/**
 * A small made-up corpus for `pond demo`: sessions of three clients in several languages, as the files that these
 * clients write. Nobody's real session; every name and path is invented.
 */

export interface DemoFile {
  /** Below the home folder. */
  readonly path: string;
  readonly content: string;
}

interface Turn {
  readonly user?: string;
  readonly assistant?: string;
  readonly tool?: {
    readonly name: string;
    readonly input: Readonly<Record<string, string>>;
    readonly output: string;
    readonly failed?: boolean;
  };
}

interface Script {
  readonly id: string;
  readonly cwd: string;
  readonly start: number;
  readonly title?: string;
  readonly turns: readonly Turn[];
}

export function demoFiles(): readonly DemoFile[] {
  return [...CLAUDE.map(claudeFile), ...CODEX.map(codexFile), ...PI.map(piFile)];
}

const at = (day: number, hour: number): number => Date.UTC(2026, 9, day, hour);

const CLAUDE: readonly Script[] = [
  {
    id: "7b0c5a52-1f0e-4a57-9d3b-6a1f0d2c9e01",
    cwd: "/home/demo/projects/checkout",
    start: at(3, 9),
    title: "Retry with backoff for the payment client",
    turns: [
      {
        user: "The payment provider answers 503 now and then. Add a retry with exponential backoff and jitter to fetchInvoice.",
      },
      {
        assistant: "I'll look at the client first.",
        tool: {
          name: "Read",
          input: { file_path: "/home/demo/projects/checkout/src/fetchInvoice.ts" },
          output:
            "export async function fetchInvoice(id: string) {\n  return http.get(`/invoices/${id}`);\n}",
        },
      },
      {
        assistant:
          "fetchInvoice has no retry at all. I'll wrap it: at most five attempts, full jitter, and only for 502, 503 and 504.",
        tool: {
          name: "Bash",
          input: { command: "npm test -- fetchInvoice" },
          output: "1 failed: retries on 503 (expected 3 calls, got 1)",
          failed: true,
        },
      },
      {
        assistant:
          "The test used a fake clock that never advanced. With the clock advanced, all 14 tests pass.",
      },
      { user: "Why full jitter and not equal jitter?" },
      {
        assistant:
          "Full jitter spreads retries of many clients best: the wait is uniform between zero and the cap, so a recovering server is not hit by synchronised waves.",
      },
    ],
  },
  {
    id: "2f6d8c11-7a90-4c1e-8b52-0f4e3a7d5b02",
    cwd: "/home/demo/projects/atlas",
    start: at(7, 14),
    title: "\u5730\u56fe\u6e32\u67d3\u6162\u7684\u539f\u56e0",
    turns: [
      {
        user: "\u5730\u56fe\u6e32\u67d3\u5f88\u6162\uff0c\u653e\u5927\u7684\u65f6\u5019\u4f1a\u5361\u4f4f\u3002\u4f60\u80fd\u627e\u5230\u539f\u56e0\u5417\uff1f",
      },
      {
        assistant: "\u6211\u5148\u770b\u4e00\u4e0b\u6027\u80fd\u5206\u6790\u7684\u7ed3\u679c\u3002",
        tool: {
          name: "Bash",
          input: { command: "node --cpu-prof bench/zoom.ts" },
          output: "tileCache.get 61%  decodeTile 22%  draw 9%",
        },
      },
      {
        assistant:
          "\u539f\u56e0\u662f tileCache \u6bcf\u6b21\u7f29\u653e\u90fd\u91cd\u65b0\u8ba1\u7b97\u952e\u3002\u628a\u952e\u7f13\u5b58\u8d77\u6765\u4e4b\u540e\uff0c\u653e\u5927\u4e00\u6b21\u4ece 240 \u6beb\u79d2\u964d\u5230 31 \u6beb\u79d2\u3002",
      },
    ],
  },
];

const CODEX: readonly Script[] = [
  {
    id: "0199c2d4-5e6f-7a80-9b1c-2d3e4f5a6b03",
    cwd: "/home/demo/projects/weather",
    start: at(11, 8),
    turns: [
      {
        user: "\u0427\u043e\u043c\u0443 \u043f\u0430\u0434\u0430\u0454 \u0442\u0435\u0441\u0442 \u043f\u0440\u043e\u0433\u043d\u043e\u0437\u0443 \u043d\u0430 \u043f\u043e\u043d\u0435\u0434\u0456\u043b\u043e\u043a?",
      },
      {
        assistant:
          "\u041f\u043e\u0434\u0438\u0432\u043b\u044e\u0441\u044f, \u0449\u043e \u0441\u0430\u043c\u0435 \u0432\u0456\u043d \u043f\u043e\u0440\u0456\u0432\u043d\u044e\u0454.",
        tool: {
          name: "shell",
          input: { command: "pytest -k monday" },
          output: "AssertionError: 2026-10-12T00:00+03:00 != 2026-10-11T21:00+00:00",
        },
      },
      {
        assistant:
          "\u0422\u0435\u0441\u0442 \u043f\u043e\u0440\u0456\u0432\u043d\u044e\u0454 \u043c\u0456\u0441\u0446\u0435\u0432\u0438\u0439 \u0447\u0430\u0441 \u0456\u0437 UTC. \u041f\u0435\u0440\u0435\u0432\u0435\u0434\u0456\u0442\u044c \u043e\u0431\u0438\u0434\u0432\u0430 \u0431\u043e\u043a\u0438 \u0432 UTC, \u0456 \u0432\u0456\u043d \u043f\u0440\u043e\u0439\u0434\u0435.",
      },
    ],
  },
];

const PI: readonly Script[] = [
  {
    id: "5c1d7e90-3b2a-4f6c-8d1e-9a0b1c2d3e04",
    cwd: "/home/demo/projects/checkout",
    start: at(15, 16),
    turns: [
      { user: "Where did we decide how many times fetchInvoice retries?" },
      {
        assistant:
          "In the session about the payment client: five attempts at most, full jitter, only for 502, 503 and 504.",
      },
    ],
  },
];

const lines = (records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");
const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

function claudeFile(script: Script): DemoFile {
  const records: unknown[] = [];
  const uuid = (): string => `${script.id.slice(0, 24)}${String(records.length).padStart(12, "0")}`;
  let parent: string | null = null;
  const add = (type: "user" | "assistant", message: object): void => {
    const id = uuid();
    const timestamp = iso(script.start + records.length * 20_000);
    const base = {
      parentUuid: parent,
      isSidechain: false,
      userType: "external",
      cwd: script.cwd,
      sessionId: script.id,
      version: "2.1.200",
      gitBranch: "main",
    };
    records.push({ ...base, type, message, uuid: id, timestamp });
    parent = id;
  };
  const say = (turn: number, content: object): void =>
    add("assistant", {
      id: `msg_${turn}`,
      type: "message",
      role: "assistant",
      model: "demo-model",
      content: [content],
    });
  for (const [turn, { user, assistant, tool }] of script.turns.entries()) {
    if (user !== undefined) add("user", { role: "user", content: user });
    if (assistant !== undefined) say(turn, { type: "text", text: assistant });
    if (tool === undefined) continue;
    const call = `toolu_${records.length}`;
    say(turn, { type: "tool_use", id: call, name: tool.name, input: tool.input });
    const failure = tool.failed === true ? { is_error: true } : {};
    add("user", {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: call, content: tool.output, ...failure }],
    });
  }
  if (script.title !== undefined)
    records.push({ type: "ai-title", aiTitle: script.title, sessionId: script.id });
  const slug = script.cwd.replaceAll(/[^A-Za-z0-9]/g, "-");
  return { path: `.claude/projects/${slug}/${script.id}.jsonl`, content: lines(records) };
}

function codexFile(script: Script): DemoFile {
  const records: unknown[] = [];
  const add = (type: string, payload: object): void => {
    records.push({ timestamp: iso(script.start + records.length * 20_000), type, payload });
  };
  const meta = {
    id: script.id,
    timestamp: iso(script.start),
    cwd: script.cwd,
    originator: "codex_cli_rs",
    cli_version: "0.150.0",
    source: "cli",
    model_provider: "demo",
  };
  add("session_meta", meta);
  add("turn_context", {
    cwd: script.cwd,
    approval_policy: "on-request",
    sandbox_policy: { type: "read-only" },
    model: "demo-model",
    summary: "auto",
  });
  for (const { user, assistant, tool } of script.turns) {
    if (user !== undefined) {
      add("response_item", { type: "message", role: "user", content: [{ type: "input_text", text: user }] });
      add("event_msg", { type: "user_message", message: user, images: [] });
    }
    if (assistant !== undefined) {
      add("event_msg", { type: "agent_message", message: assistant });
      add("response_item", {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: assistant }],
      });
    }
    if (tool === undefined) continue;
    const call_id = `call_${records.length}`;
    add("response_item", {
      type: "function_call",
      name: tool.name,
      arguments: JSON.stringify(tool.input),
      call_id,
    });
    add("response_item", { type: "function_call_output", call_id, output: tool.output });
  }
  const stamp = iso(script.start).slice(0, 19).replaceAll(":", "-");
  const day = iso(script.start).slice(0, 10).replaceAll("-", "/");
  return { path: `.codex/sessions/${day}/rollout-${stamp}-${script.id}.jsonl`, content: lines(records) };
}

function piFile(script: Script): DemoFile {
  const records: unknown[] = [
    { type: "session", version: 3, id: script.id, timestamp: iso(script.start), cwd: script.cwd },
  ];
  let parentId: string | null = null;
  const add = (message: object): void => {
    const id = records.length.toString(16).padStart(8, "0");
    records.push({
      type: "message",
      id,
      parentId,
      timestamp: iso(script.start + records.length * 20_000),
      message,
    });
    parentId = id;
  };
  for (const { user, assistant } of script.turns) {
    const timestamp = script.start + records.length * 20_000;
    if (user !== undefined) add({ role: "user", content: [{ type: "text", text: user }], timestamp });
    if (assistant !== undefined)
      add({
        role: "assistant",
        content: [{ type: "text", text: assistant }],
        api: "demo",
        provider: "demo",
        model: "demo-model",
        stopReason: "stop",
        timestamp,
      });
  }
  const folder = `--${script.cwd.replace(/^\//, "").replaceAll(/[/\\:]/g, "-")}--`;
  const stamp = iso(script.start).replaceAll(/[:.]/g, "-");
  return { path: `.pi/agent/sessions/${folder}/${stamp}_${script.id}.jsonl`, content: lines(records) };
}
