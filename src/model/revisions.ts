/** Which messages a newer revision of the same record replaced (spec.md#model-revisions). Pure. */

interface Revision {
  readonly id: string;
  readonly timestamp: number;
  /** The id that all revisions of the record share; absent for a record that was never rewritten. */
  readonly revises?: string;
}

/** The ids of one session's messages that are not to be shown. Of equal age the later one of the input is newer. */
export function supersededIds(messages: Iterable<Revision>): ReadonlySet<string> {
  const newest = new Map<string, Revision>();
  const superseded = new Set<string>();
  for (const message of messages) {
    const { revises } = message;
    if (revises === undefined) continue;
    if (revises !== message.id) superseded.add(revises);
    const other = newest.get(revises);
    const isNewer = other === undefined || other.timestamp <= message.timestamp;
    if (isNewer) newest.set(revises, message);
    if (other !== undefined) superseded.add(isNewer ? other.id : message.id);
  }
  return superseded;
}
