// SPDX-License-Identifier: Apache-2.0

/**
 * Shares reads between concurrent callers. A caller never gets a read that started before its call.
 * Callers that arrive during a read share the next one.
 *
 * @param read - reads the object at a path now
 * @returns a function that reads the same, at most once at a time per path, and fails as `read`
 * does
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
