/** Which Node this package runs on: an older one loads it, and then lacks what it is built on. */
import { PondError } from "../base/errors.ts";

/** As `engines` of package.json says, and the command's launcher. */
const LEAST = { major: 22, minor: 18 };

/** Throws for a Node that is too old, before anything it lacks is called. */
export function checkNode(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > LEAST.major || (major === LEAST.major && minor >= LEAST.minor)) return;
  throw new PondError(
    "internal",
    `pond-db needs Node ${LEAST.major}.${LEAST.minor} or newer, and this is ${version}`,
    { reason: "unsupported", hint: "install a newer Node.js (https://nodejs.org)" },
  );
}
