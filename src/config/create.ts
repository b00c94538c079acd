/** The first configuration file: written by `pond init`, never over an existing one. */
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { makeFolders, PRIVATE_FILE } from "../base/files/folders.ts";

interface FirstSettings {
  readonly storageUrl: string;
  /** Of `[embeddings]`, where that is not the default. */
  readonly embeddings?: { readonly provider: string; readonly model?: string; readonly folder?: string };
}

/** Creates the file with these settings; false when there is one already, which stays as it is. */
export async function createConfigFile(path: string, settings: FirstSettings): Promise<boolean> {
  makeFolders(dirname(path));
  const content = `# Settings of pond. Every line is optional: \`pond config show\` shows which values are in effect and why,
# \`pond config schema\` shows every setting.

[storage]
# A folder, or s3://bucket/prefix, gs://bucket/prefix, az://container/prefix
url = ${tomlText(settings.storageUrl)}

# Folders or single files to read beside or instead of a client's own place:
# [adapters.claude-code]
# paths = ["~/.claude/projects", "/backup/claude/projects"]

${embeddingsTable(Object.entries(settings.embeddings ?? {}))}`;
  try {
    await writeFile(path, content, { flag: "wx", mode: PRIVATE_FILE });
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

function embeddingsTable(values: readonly (readonly [string, string])[]): string {
  const lines = values.map(([name, value]) => `${name} = ${tomlText(value)}\n`);
  if (lines.length > 0) return `[embeddings]\n${lines.join("")}`;
  return `# Vectors, for search by meaning; the key of a service is better in POND_EMBEDDINGS_API_KEY:
# [embeddings]
# provider = "ollama"
# model = "nomic-embed-text"
`;
}

/** A TOML basic string has the escapes of JSON. */
function tomlText(text: string): string {
  return JSON.stringify(text).replaceAll("\\/", "/").replaceAll("\u007f", "\\u007f");
}
