/**
 * Secrets never leave (spec.md#config-secrets): what people, logs and other programs are shown has the place of a secret, not
 * its value. The engine quotes addresses, headers and bodies in its errors, so that its text is looked through, too.
 */

/** Names of settings, headers and parameters that carry credentials: object stores call theirs so. */
export const SECRET_NAME =
  /secret|key|token|passw|pwd|credential|signature|authorization|cookie|headers?$|sas(?:_|$)|^sig$/i;

const MASK = "***";
/** In place of a setting's value, the same for every one: its length is nobody's business either. */
export const HIDDEN = "********";
/** Shorter values stand in any text by chance: blanking them would tell more than it hides. */
const SHORTEST_KNOWN = 4;

// All of these are bounded, because a text may be as long as an argument: none looks at a place more than some times.
/** Up to the last @ before the path; and a password with a slash in it, which only a colon that starts no port tells. */
const USER_INFO = /(:\/\/)[^\s/?#"'<>()]*@/g;
const SLASHED_PASSWORD = /(:\/\/)[^\s/:?#@"'<>()]*:(?!\d{1,5}(?:[/?#\s"'<>()]|$))[^\s"'<>()]{0,500}@/g;
const QUERY = /(:\/\/[^\s?"'<>()]{0,2000}\?)[^\s"'<>()]*/g;
const SECRET_WORD =
  "[\\w.-]{0,40}(?:secret|token|passw(?:or)?d|pwd|credential|signature|authorization|cookie|(?:api|access|account)[_-]?key)[\\w.-]{0,40}";
/** `Authorization: Bearer x`, `aws_secret_access_key = "x"`, `token: Some("x")`; not `token.ts:1:2` of a stack. */
const FIELD = new RegExp(
  `\\b(${SECRET_WORD}"?\\s{0,3}[:=](?!\\d+:\\d)\\s{0,3}(?:Some\\()?)("[^"]*"|(?:(?:Bearer|Basic|AWS4-HMAC-SHA256)\\s{1,3})?[^\\s",;})]+)`,
  "gi",
);
/** The same in the XML of an object store's answer. */
const ELEMENT = new RegExp(`(<${SECRET_WORD}>)[^<]*(?=<)`, "gi");

/** Text without the credentials in it: of URLs, headers and settings, and whatever `known` names. */
export function maskSecrets(text: string, known: Iterable<string> = []): string {
  let masked = text;
  for (const secret of known)
    for (const form of new Set([secret, encodeURIComponent(secret.toWellFormed())]))
      if (form.length >= SHORTEST_KNOWN) masked = masked.replaceAll(form, MASK);
  if (masked.includes("://"))
    masked = masked
      .replaceAll(USER_INFO, `$1${MASK}@`)
      .replaceAll(SLASHED_PASSWORD, `$1${MASK}@`)
      .replaceAll(QUERY, `$1${MASK}`);
  return masked.replaceAll(FIELD, `$1${MASK}`).replaceAll(ELEMENT, `$1${MASK}`);
}

/**
 * The address of a setting: whose a password is and what a parameter is called may be shown, the rest of what a text gives
 * away may not.
 */
export function maskUrl(text: string): string {
  if (!text.includes("://")) return maskSecrets(text);
  return text
    .replace(/(:\/\/[^/?#@:]*):(?!\d{1,5}(?:[/?#]|$))[^?#]{0,500}@/, `$1:${HIDDEN}@`)
    .replace(/(:\/\/)[^/?#@:]*@/, `$1${HIDDEN}@`)
    .replaceAll(/([?&])([^=&#]*)=([^&#]*)/g, (all, mark: string, name: string) =>
      SECRET_NAME.test(name) ? `${mark}${name}=${HIDDEN}` : all,
    );
}

/** An address with a slip after its scheme (`s3:/name:password@bucket`), which is none to the others. */
export const maskUrlSlip = (text: string): string => text.replace(/:.*@/s, `:${MASK}@`);

/** The secrets among the options of an object store: what is named so, and passwords inside addresses. */
export function secretsIn(options: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (SECRET_NAME.test(name)) return [value];
    const password = /:\/\/[^\s/:@]*:([^\s]{0,500})@/.exec(value)?.[1];
    return password === undefined || password === "" ? [] : [password];
  });
}

/** An error as a cause of another: with its stack, and without the secrets in both. */
export function withoutSecrets(error: unknown, known: Iterable<string> = []): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? maskSecrets(error, known) : error;
  const { message, stack = "", cause } = error;
  const inner = cause === undefined ? undefined : withoutSecrets(cause, known);
  const [shown, shownStack] = [maskSecrets(message, known), maskSecrets(stack, known)];
  if (shown === message && shownStack === stack && inner === cause) return error;
  const copy = new Error(shown, inner === undefined ? undefined : { cause: inner });
  return Object.assign(copy, { name: error.name, stack: shownStack });
}
