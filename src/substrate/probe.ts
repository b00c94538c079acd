/**
 * Object stores that ignore conditional writes are refused (spec.md#lance-conditional-writes): two writers
 * would both believe that they made the next version, and up to two thirds of acknowledged rows were seen
 * to vanish without an error.
 */
import { randomUUID } from "node:crypto";
import { PondError } from "../base/errors.ts";
import type { Lance, LanceConnection } from "./lance.ts";
import { engineError, faultOf } from "./retry.ts";

const CREATORS = 6;
const ROUNDS = 2;

/**
 * Several connections create one table at once, through the engine. Version 1 of a table is one conditional
 * write: where conditions count, at most one of them can have made it.
 */
export async function probeConditionalWrites(
  lance: Lance,
  where: string,
  connect: () => Promise<LanceConnection>,
): Promise<void> {
  const connections = await Promise.all(Array.from({ length: CREATORS }, connect));
  try {
    for (let round = 0; round < ROUNDS; round++) await raceOnce(lance, where, connections);
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function raceOnce(
  { arrow }: Lance,
  where: string,
  connections: readonly LanceConnection[],
): Promise<void> {
  const name = `pond_probe_${randomUUID()}`;
  const schema = new arrow.Schema([new arrow.Field("id", new arrow.Utf8(), false)]);
  const created = await Promise.allSettled(
    connections.map(async (connection) => (await connection.createEmptyTable(name, schema)).version()),
  );
  await connections[0]?.dropTable(name).catch(() => undefined);
  const failure = created.find(
    (result) => result.status === "rejected" && !["exists", "conflict"].includes(faultOf(result.reason)),
  );
  if (failure?.status === "rejected")
    throw engineError(failure.reason, { what: "probe the store", where, attempts: 1 });
  const winners = created.filter((result) => result.status === "fulfilled" && result.value === 1).length;
  if (winners <= 1) return;
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
