import { describe, expect, test } from "vitest";
import { maskSecrets } from "../../base/secrets.ts";
import { parseStorageUrl } from "./storage-url.ts";

const base = { home: "/home/me", cwd: "/srv/here" };

describe("storage addresses", () => {
  test.each([
    ["/var/pond", "local", "/var/pond"],
    ["/var/pond/", "local", "/var/pond"],
    ["./data", "local", "/srv/here/data"],
    ["data/../x", "local", "/srv/here/x"],
    ["~", "local", "/home/me"],
    ["~/pond", "local", "/home/me/pond"],
    ["file:///var/my%20pond", "local", "/var/my pond"],
    ["memory://test", "memory", "memory://test"],
    ["memory://", "memory", "memory://"],
    ["s3://bucket", "object", "s3://bucket"],
    ["S3://bucket/a/b/", "object", "s3://bucket/a/b"],
    ["gs://bucket/pond", "object", "gs://bucket/pond"],
    ["az://container/pond", "object", "az://container/pond"],
  ])("%s is %s", (text, kind, href) => {
    expect(parseStorageUrl(text, base)).toMatchObject({ kind, href });
  });

  test.each([
    "",
    "  ",
    "ftp://host/x",
    "https://host/x",
    "s3://",
    "s3:///prefix",
    "s3://bucket/../other",
    "~other/pond",
    "file://host/x",
    "a\0b",
  ])("%j is refused with a way out", (text) => {
    expect(() => parseStorageUrl(text, base)).toThrow(
      expect.objectContaining({ code: "validation_failed", hint: expect.any(String) }),
    );
  });

  test("a secret in an address is refused and never repeated", () => {
    for (const text of ["s3://key:hunter2@bucket/x", "az://container/x?sig=hunter2"]) {
      expect(() => parseStorageUrl(text, base)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining("hunter2") }),
      );
      expect(maskSecrets(text)).not.toContain("hunter2");
    }
  });
});
