// SPDX-License-Identifier: Apache-2.0
/** Returns the name that differs in the fewest characters, if there are few. */
export function closest(name: string, known: readonly string[]): string | undefined {
  return closestFirst(name, known)[0];
}

/** Returns the names that differ in few characters, the closest first. */
export function closestFirst(name: string, known: readonly string[]): readonly string[] {
  // Two or three characters allow one difference, four to eight allow two, more allow a third.
  const most = Math.max(Math.min(2, Math.floor(name.length / 2)), Math.floor(name.length / 3));
  return known
    .map((each) => ({ each, by: distance(name, each) }))
    .filter(({ by }) => by <= most)
    .toSorted((a, b) => a.by - b.by)
    .map(({ each }) => each);
}

/** Returns Levenshtein's distance in UTF-16 units, because the names of Kubernetes are ASCII. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_none, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const substitution = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, substitution));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
