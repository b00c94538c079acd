import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { snippet, WHOLE } from "./snippet.ts";
import type { Candidate } from "./candidates.ts";
import { collapseCopies, newestVersions } from "./collapse.ts";

describe("a snippet", () => {
  test("is the whole text when that is short", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: WHOLE }),
        fc.string(),
        (text, query) => snippet(text, query) === text,
      ),
    );
  });

  test("of a long text shows the match, is bounded, and cuts no surrogate pair", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 900, maxLength: 3000 }),
        fc.nat(),
        (filler, at) => {
          fc.pre(!filler.toLowerCase().includes("needle"));
          const chars = Array.from(filler);
          const cut = at % chars.length;
          const text = `${chars.slice(0, cut).join("")} needle ${chars.slice(cut).join("")}`;
          const shown = snippet(text, "the needle");
          expect(shown).toContain("needle");
          expect(shown.length).toBeLessThan(WHOLE + 80);
          expect(shown.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

const candidate = (session_id: string, message_id: string, score: number, timestamp = 0): Candidate =>
  ({ session_id, message_id, score, timestamp, role: "user", row: 0n }) as unknown as Candidate;

describe("copies and versions", () => {
  test("a message repeated by forks is one hit in the oldest session, at the place of the best one", () => {
    const born: Record<string, number> = { old: 1, middle: 2, young: 3 };
    const hits = collapseCopies(
      [
        candidate("young", "m", 0.9),
        candidate("young", "n", 0.8),
        candidate("old", "m", 0.7),
        candidate("middle", "m", 0.6),
      ],
      (id) => born[id] ?? 0,
    );
    expect(
      hits.map(({ session_id, message_id, score, copies }) => [
        session_id,
        message_id,
        score,
        copies.map((c) => c.session_id),
      ]),
    ).toEqual([
      ["old", "m", 0.9, ["young", "middle"]],
      ["young", "n", 0.8, []],
    ]);
  });

  test("of a rewritten record only the newest version is left", () => {
    const versions = [
      candidate("s", "m", 1),
      candidate("s", "m@2", 0.9),
      candidate("s", "m@3", 0.8),
      candidate("t", "m", 0.7),
    ];
    const spaces = [{ at: 1 }, { revises: "m", at: 2 }, { revises: "m", at: 3 }, {}];
    expect(
      newestVersions(versions, spaces).map(({ session_id, message_id }) => [session_id, message_id]),
    ).toEqual([
      ["s", "m@3"],
      ["t", "m"],
    ]);
  });
});
