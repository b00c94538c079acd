/**
 * Whether a folder lies on a disk of this machine's kernel, so that a lock on a file there holds among all who write
 * (spec.md#storage-append). A list of what is known to be one: over a network, FUSE or 9p a lock may hold on one side only.
 */
import { statfs } from "node:fs/promises";

/** By the magic numbers of Linux (statfs(2)). */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlayfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
  0x3153464a, // jfs
  0x52654973, // reiserfs
  0x3434, // nilfs2
]);

export async function isLocalDisk(folder: string): Promise<boolean> {
  try {
    if (process.platform === "linux") return LOCAL_TYPES.has(await typeOf(folder));
    // Types have no fixed numbers there: the disk that the system runs from is a local one.
    return process.platform === "darwin" && (await typeOf(folder)) === (await typeOf("/"));
  } catch {
    return false;
  }
}

/** The kernel's field is signed on some machines. */
const typeOf = async (folder: string): Promise<number> => (await statfs(folder)).type >>> 0;
