/**
 * Names of temporary folders that say whose they are, so that one of a process that is no longer alive can be told from one
 * in use, and there is no instant at which nobody can tell.
 */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { isProcessAlive, startOf } from "./process-life.ts";

const OWNER = /^([0-9a-f]+)-(\d+)-(\d*)-/;

/** What the name of a folder of this process begins with. */
export function ownedName(prefix: string): string {
  const { pid } = process;
  return `${prefix}${hostMark()}-${pid}-${startOf(pid) ?? ""}-`;
}

/**
 * Whose a folder is, by its name. Another machine's process cannot be asked, so it counts as alive; so does whoever made a
 * name that is not ours.
 */
export function ownerOf(prefix: string, name: string): "self" | "alive" | "dead" {
  const [, host, pid = "", started = ""] = OWNER.exec(name.slice(prefix.length)) ?? [];
  if (!name.startsWith(prefix) || host !== hostMark()) return "alive";
  if (Number(pid) === process.pid && started === (startOf(process.pid) ?? "")) return "self";
  return isProcessAlive(Number(pid), started === "" ? undefined : started) ? "alive" : "dead";
}

function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}
