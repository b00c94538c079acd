/** Work that runs side by side and is waited for together. */

/** As `Promise.all`, but told only when all have ended: who is told of a failure leaves nothing running behind it. */
export async function allEnded<T extends readonly unknown[] | []>(
  tasks: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const all = Promise.all(tasks);
  await Promise.allSettled([all, ...tasks]);
  return all;
}
