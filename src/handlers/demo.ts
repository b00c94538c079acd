/** `demo`: the made-up corpus as files of a throwaway home, so that a person without sessions can try everything. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { demoFiles } from "./demo-corpus.ts";

/** Writes the corpus below a folder that stands for a home, and tells how many files it is. */
export async function writeDemoHome(home: string): Promise<number> {
  const files = demoFiles();
  for (const { path, content } of files) {
    const target = join(home, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content, { flag: "wx" });
  }
  return files.length;
}
