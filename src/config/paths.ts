/** Where pond keeps its things: XDG base directories on every Unix, the AppData folders on Windows. Pure. */
import { posix, win32 } from "node:path";
import type { Environment } from "./environment.ts";

export interface Paths {
  /** The configuration file; it need not exist. */
  readonly configFile: string;
  /** What must be kept: the store. */
  readonly data: string;
  /** What can be rebuilt: cursors, locks, scratch. */
  readonly state: string;
}

export function resolvePaths({ env, home, platform }: Environment): Paths {
  const path = platform === "win32" ? win32 : posix;
  const join = (...parts: readonly string[]): string => path.join(...parts);
  // The XDG specification: a relative value is invalid and is ignored.
  const folder = (variable: string): string | undefined => {
    const value = env[variable];
    return value !== undefined && path.isAbsolute(value) ? value : undefined;
  };
  const xdg = (variable: string, fallback: string): string => {
    const base = folder(variable);
    return base === undefined ? fallback : join(base, "pond");
  };
  if (platform === "win32") {
    const roaming = folder("APPDATA") ?? join(home, "AppData", "Roaming");
    const local = folder("LOCALAPPDATA") ?? join(home, "AppData", "Local");
    return {
      configFile: join(xdg("XDG_CONFIG_HOME", join(roaming, "pond")), "config.toml"),
      data: xdg("XDG_DATA_HOME", join(local, "pond", "data")),
      state: xdg("XDG_STATE_HOME", join(local, "pond", "state")),
    };
  }
  return {
    configFile: join(xdg("XDG_CONFIG_HOME", join(home, ".config", "pond")), "config.toml"),
    data: xdg("XDG_DATA_HOME", join(home, ".local", "share", "pond")),
    state: xdg("XDG_STATE_HOME", join(home, ".local", "state", "pond")),
  };
}
