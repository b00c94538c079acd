/**
 * Object stores that ignore conditional writes are refused (spec.md#lance-conditional-writes): two writers
 * would both believe that they made the next version, and up to two thirds of acknowledged rows were seen
 * to vanish without an error.
 */
import { randomUUID } from "node:crypto";
import { PondError } from "../../base/errors.ts";
import type { Lance, LanceConnection } from "../engine/lance.ts";
import type { RetryPolicy } from "../engine/retry.ts";
import { attemptsFor, backoff, engineError, faultOf, withRetry } from "../engine/retry.ts";

const CREATORS = 6;
/** Creators that had an answer, beyond the first of each round: those of two rounds that nothing disturbed. */
const ENOUGH = 2 * (CREATORS - 1);

export interface Probed {
  /** For messages. */
  readonly where: string;
  readonly policy: RetryPolicy;
  readonly connect: () => Promise<LanceConnection>;
}

/**
 * Several connections create one table at once, through the engine. Version 1 of a table is one conditional
 * write: where conditions count, at most one of them can have made it.
 *
 * A creator whose connection broke may have made it or not, so it proves nothing, and it is not asked again: it would
 * only find what is there. Whole rounds under other names are held instead, until as many creators had an answer as in
 * two rounds that nothing disturbs.
 */
export async function probeConditionalWrites(lance: Lance, probed: Probed): Promise<void> {
  const { where, policy, connect } = probed;
  const connections = await Promise.all(Array.from({ length: CREATORS }, connect));
  try {
    let contests = 0;
    let inVain = 0;
    while (contests < ENOUGH) {
      const { answered, failure } = await raceOnce(lance, probed, connections);
      contests += Math.max(0, answered - 1);
      if (failure === undefined || contests >= ENOUGH) continue;
      inVain = answered > 1 ? 0 : inVain + 1;
      const fault = faultOf(failure);
      if (attemptsFor(policy, fault) === 1 || inVain >= attemptsFor(policy, fault))
        throw engineError(failure, { what: "probe the store", where, attempts: Math.max(1, inVain) });
      await policy.clock.sleep(backoff(policy, inVain + 1));
    }
  } finally {
    for (const connection of connections) connection.close();
  }
}

interface Round {
  /** Creators that made the table, or were told that it is there. */
  readonly answered: number;
  /** Why one of the others has no answer. */
  readonly failure: unknown;
}

async function raceOnce(
  { arrow }: Lance,
  { where, policy }: Probed,
  connections: readonly LanceConnection[],
): Promise<Round> {
  const name = `pond_probe_${randomUUID()}`;
  const schema = new arrow.Schema([new arrow.Field("id", new arrow.Utf8(), false)]);
  const created = await Promise.allSettled(
    connections.map(async (connection) => {
      const table = await connection.createEmptyTable(name, schema);
      const run = (): Promise<number> => table.version();
      return (await withRetry(policy, { what: "probe the store", where, run })).value;
    }),
  );
  const drop = async (): Promise<void> => connections[0]?.dropTable(name);
  // What is left of a probe is passed over by everybody.
  await withRetry(policy, { what: "drop the probe", where, run: drop }).catch(() => undefined);
  const winners = created.filter((result) => result.status === "fulfilled" && result.value === 1).length;
  if (winners <= 1) return outcomeOf(created);
  throw new PondError(
    "storage_unavailable",
    `${where} ignores conditional writes: ${winners} writers made the same version of one table`,
    {
      reason: "unsupported",
      hint: "use a store that honours If-None-Match on PUT (Amazon S3, Google Cloud Storage, Azure Blob, Ceph, MinIO); on this one concurrent writers would lose rows without an error",
      data: { winners, creators: CREATORS },
    },
  );
}

function outcomeOf(created: readonly PromiseSettledResult<number>[]): Round {
  const failures = created.flatMap((result): readonly unknown[] =>
    result.status === "rejected" && !["exists", "conflict"].includes(faultOf(result.reason))
      ? [result.reason]
      : [],
  );
  return { answered: created.length - failures.length, failure: failures[0] };
}
