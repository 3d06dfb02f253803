// SPDX-License-Identifier: Apache-2.0

/**
 * Lets those who read the same thing at the same time share one read. Nobody is given a read that began before they
 * asked: who asks while one is under way shares the next one with all others who ask meanwhile.
 *
 * @param read - reads what is at a path, now
 * @returns reads the same, at most one at a time for each path; fails as `read` failed
 */
export function shareReads<T>(read: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const current = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<T>>();

  function begin(path: string): Promise<T> {
    const begun = read(path);
    const settled: Promise<void> = begun.then(
      () => undefined,
      () => undefined,
    );
    current.set(path, settled);
    void settled.then(() => {
      if (!next.has(path)) current.delete(path);
    });
    return begun;
  }

  return (path) => {
    const before = current.get(path);
    if (before === undefined) return begin(path);
    const waiting = next.get(path);
    if (waiting !== undefined) return waiting;
    const follows = before.then(() => {
      next.delete(path);
      return begin(path);
    });
    next.set(path, follows);
    return follows;
  };
}
