/** Many files, or a whole container, by one short value. */
import type { FileStamp } from "../files/stamp.ts";
import { valueHash } from "../../../base/json/value-hash.ts";

/**
 * Many files as one stamp, so that a session of thousands of files has a short cursor: any change of any of them
 * changes it. The digest of all stamps stands where a file has its inode, their number where it has its device.
 */
export function stampOfMany(
  path: string,
  stamps: readonly FileStamp[],
  beside: readonly string[] = [],
): FileStamp {
  const looks = stamps.map((stamp) => `${stamp.path} ${stamp.size} ${stamp.mtime} ${stamp.inode}`);
  const texts = [...looks, ...beside];
  return {
    path,
    size: stamps.reduce((sum, { size }) => sum + size, 0),
    mtime: stamps.reduce((newest, { mtime }) => Math.max(newest, mtime), 0),
    inode: Number.parseInt(valueHash(texts.toSorted()).slice(0, 13), 16),
    device: stamps.length,
  };
}
