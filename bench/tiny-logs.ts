/** Small logs of Claude Code, as many as wanted: what costs a source costs, without its bytes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = 200;

/** Two messages each, below the home of a user; their paths. */
export function writeTinyLogs(home: string, files: number): string[] {
  const logs: string[] = [];
  for (let n = 0; n < files; n++) {
    const folder = join(home, ".claude/projects", `-home-me-project-${n % FOLDERS}`);
    if (n < FOLDERS) mkdirSync(folder, { recursive: true });
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    const path = join(folder, `${id}.jsonl`);
    writeFileSync(path, record(id, 0) + record(id, 1));
    logs.push(path);
  }
  return logs;
}

/** One line of such a log. */
export function record(id: string, n: number, text = ""): string {
  const uuid = `${id}-${n}`;
  const message = { role: "user", content: `message ${n} of ${id} ${text}` };
  const timestamp = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
  return `${JSON.stringify({ type: "user", uuid, sessionId: id, cwd: "/home/me/project", timestamp, message })}\n`;
}
