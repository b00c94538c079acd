/** Absence is a missing key, never `undefined`. */

/** `{ [name]: value }`, or nothing where there is no value. */
export function optional<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tsc widens a computed key to string
  return (value === undefined ? {} : { [name]: value }) as { readonly [P in K]?: V };
}
