/** The first configuration file: written by `pond init`, never over an existing one. */
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { makeFolders, PRIVATE_FILE } from "../base/files/folders.ts";

/** Creates the file with the store's address; false when there is one already, which stays as it is. */
export async function createConfigFile(
  path: string,
  settings: { readonly storageUrl: string },
): Promise<boolean> {
  makeFolders(dirname(path));
  const content = `# Settings of pond. Every line is optional: \`pond config show\` shows which values are in effect and why,
# \`pond config schema\` shows every setting.

[storage]
# A folder, or s3://bucket/prefix, gs://bucket/prefix, az://container/prefix
url = ${tomlText(settings.storageUrl)}

# Folders or single files to read beside or instead of a client's own place:
# [adapters.claude-code]
# paths = ["~/.claude/projects", "/backup/claude/projects"]
`;
  try {
    await writeFile(path, content, { flag: "wx", mode: PRIVATE_FILE });
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** A TOML basic string has the escapes of JSON. */
function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\\/", "/").replaceAll("\u007f", "\\u007f");
}
