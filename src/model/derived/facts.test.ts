import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../base/json/json.ts";
import type { PondFacts } from "./index.ts";
import { pondFacts, withFacts, withoutFacts } from "./index.ts";

/** Each fact once, so that a reader that forgets one is seen. */
const ALL: Required<PondFacts> = {
  created_at: "file",
  call_id: "c",
  recovered: true,
  restored: {
    session_id: "s",
    message_id: "m",
    also: [{ session_id: "s", message_id: "n" }],
    recorded: { parent_session_id: "p", parent_message_id: "q", relation: "fork", source_agent: "pi" },
  },
  parent: null,
  leaf: "l",
  aside: true,
  turn: "t",
  id: "derived",
  timestamp: "carried",
  record: "r",
  revises: "v",
  value: "h",
  at: 5,
  removed: true,
  whole: true,
  replays: { session_id: "s" },
  twin: "w",
  title: { at: "/source/record/name", rank: 30 },
  compaction: "micro",
  injected: "hook",
  author: "unknown",
  joined: true,
  of: "o",
  index: 0,
  truncated: "<marker>",
};

describe("the facts of pond", () => {
  test("are read as they were written", () => {
    expect(pondFacts(withFacts({}, ALL))).toEqual(ALL);
  });

  test("are added to those that are there, beside what else the options have", () => {
    const options = withFacts(withFacts({ source: 1 }, { parent: "a", turn: "t" }), { parent: "b" });
    expect(options).toEqual({ source: 1, pond: { parent: "b", turn: "t" } });
    expect(withoutFacts(options, ["turn"])).toEqual({ source: 1, pond: { parent: "b" } });
  });

  test("leave options alone where there are none", () => {
    const options = { source: 1 };
    expect(withFacts(options, {})).toBe(options);
    expect(pondFacts(options)).toEqual({});
  });

  test.each(Object.keys(ALL))("%s of another shape is absent", (name) => {
    for (const value of [{}, [], 1.5, "?", false]) {
      const fact = pondFacts({ pond: { [name]: value } });
      const isOfItsShape = Object.hasOwn(fact, name);
      if (isOfItsShape) expect([typeof value, fact]).toEqual([typeof value, { [name]: value }]);
    }
    expect(pondFacts({ pond: { [name]: {} } })).toEqual({});
    expect(pondFacts({ pond: { [name]: false } })).toEqual({});
  });

  test.each<[string, JsonObject]>([
    ["no object", { pond: "text" }],
    ["inherited", Object.create({ pond: { turn: "t" } }) as JsonObject],
    ["unknown", { pond: { constructor: "x", other: 1 } }],
  ])("that are %s are none", (_, options) => {
    expect(pondFacts(options)).toEqual({});
  });
});
