// SPDX-License-Identifier: Apache-2.0

/** Enough to be quick, too few to be a load on an API server. */
const AT_ONCE = 16;

/**
 * Processes all items, a few at once, and keeps their order. Rejects with the first rejection, and
 * begins no other item after it.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  atOnce: number = AT_ONCE,
): Promise<readonly R[]> {
  const results: R[] = [];
  const shared = items.entries();
  let hasFailed = false;
  await Promise.all(
    Array.from({ length: Math.min(atOnce, items.length) }, async () => {
      for (const [index, item] of shared) {
        if (hasFailed) return;
        try {
          results[index] = await work(item);
        } catch (error) {
          hasFailed = true;
          throw error;
        }
      }
    }),
  );
  return results;
}
