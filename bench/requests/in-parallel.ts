// SPDX-License-Identifier: Apache-2.0

/** Works on all items, so many at once; rejects with the first rejection. */
export async function inParallel<T>(
  items: readonly T[],
  workers: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  // One iterator for all: each item is taken once.
  const shared = items.entries();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (const [index, item] of shared) await work(item, index);
    }),
  );
}
