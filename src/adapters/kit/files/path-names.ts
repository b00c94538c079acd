/** Names in paths with `/`, as keys of sources are. A door of its own beside index.ts: all commands load it. */

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Empty where there is none. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function joinPath(folder: string, path: string): string {
  return folder === "" ? path : `${folder}/${path}`;
}

/** A file's name without its extension, where it has that one. */
export function stemOf(path: string, extension: string): string {
  const name = nameOf(path);
  return name.endsWith(extension) ? name.slice(0, -extension.length) : name;
}
