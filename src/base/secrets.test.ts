import fc from "fast-check";
import { expect, test } from "vitest";
import { errorBody, PondError } from "./errors.ts";
import { maskSecrets, secretsIn, withoutSecrets } from "./secrets.ts";

test.each([
  ["user and password", "https://user:hunter2@host/path", "https://***@host/path"],
  ["a token as the user", "https://hunter2@host/path", "https://***@host/path"],
  ["a password with an at sign", "https://user:hun@hunter2@host/path", "https://***@host/path"],
  ["a password with a slash", "https://user:hun/hunter2@host/path", "https://***@host/path"],
  ["inside a sentence, twice", 'a "s3://u:hunter2@b", (az://hunter2@c)', 'a "s3://***@b", (az://***@c)'],
  ["a query", "GET https://host/p?sig=hunter2&x=1 failed", "GET https://host/p?*** failed"],
  ["a header", "Authorization: Bearer hunter2, x: 1", "Authorization: ***, x: 1"],
  ["a setting", 'aws_secret_access_key = "hunter2" in', "aws_secret_access_key = *** in"],
  [
    "an engine's option",
    'Key { session_token: Some("hunter2"), n: 1 }',
    "Key { session_token: Some(***), n: 1 }",
  ],
  ["an answer in XML", "<AWSAccessKeyId>hunter2</AWSAccessKeyId>", "<AWSAccessKeyId>***</AWSAccessKeyId>"],
])("%s is masked", (_, text, shown) => {
  expect(maskSecrets(text)).toBe(shown);
  expect(maskSecrets(shown)).toBe(shown);
});

test.each([
  "http://127.0.0.1:9000/bucket@v2/key",
  "s3://bucket/a@b",
  "/home/me/a:b@c",
  "cannot reach s3://bucket/pond (Connection refused)",
  "what? nothing",
])("%s is left as it is", (text) => {
  expect(maskSecrets(text)).toBe(text);
});

test("known values go wherever they stand, as they are and as a URL spells them", () => {
  const known = secretsIn({
    aws_secret_access_key: "s3cr/t+",
    aws_region: "eu-west-1",
    aws_endpoint: "http://me:p4ss@h/",
    allow_http: "true",
    sas_key: "abc",
  });
  expect(known).toEqual(["s3cr/t+", "p4ss", "abc"]);
  // Too short a value is part of too much.
  expect(maskSecrets("s3cr/t+ s3cr%2Ft%2B p4ss abc eu-west-1", known)).toBe("*** *** *** abc eu-west-1");
});

test("a password of any kind does not get through", () => {
  const word = fc.stringMatching(/^[A-Za-z0-9._~!$&*+,;=:@%-]{4,20}$/).map((text) => `SECRET${text}`);
  fc.assert(
    fc.property(word, word, (user, password) => {
      const shown = maskSecrets(`error (https://${user}:${password}@host/x?sig=${password}) at`);
      expect(shown).not.toContain("SECRET");
      expect(shown).toContain("@host/x?");
    }),
  );
});

test("a cause keeps its kind and its stack, and loses its secrets", () => {
  const inner = new TypeError("for https://u:hunter2@h/");
  const outer = new Error("outer", { cause: inner });
  const masked = withoutSecrets(outer);
  expect(masked).toBeInstanceOf(Error);
  const { cause, stack } = masked as Error;
  expect(cause).toMatchObject({ name: "TypeError", message: "for https://***@h/" });
  expect((cause as Error).stack).toContain("secrets.test");
  expect((cause as Error).stack).not.toContain("hunter2");
  expect(stack).toContain("outer");
  const plain = new Error("nothing to hide");
  expect(withoutSecrets(plain)).toBe(plain);
});

test("the body of an error has none, in no field", () => {
  const url = "https://u:hunter2@h/?sig=hunter2";
  const error = new PondError("internal", url, { hint: url, data: { where: url, list: [url], n: 1 } });
  const shown = "https://***@h/?***";
  expect(errorBody(error)).toEqual({
    error: { code: "internal", message: shown, details: { where: shown, list: [shown], n: 1, hint: shown } },
  });
});
