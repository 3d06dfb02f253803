// SPDX-License-Identifier: Apache-2.0

/**
 * The expression for how much a counter has grown. A series with labels begins with its first event, at 1, and
 * `increase()` is 0 for it: what it counts from there on is right, and the first event would never be seen.
 *
 * @param counter - a selector
 * @param range - of Prometheus: `1h`
 */
export function grown(counter: string, range: string): string {
  return `((${counter} unless ${counter} offset ${range}) or increase(${counter}[${range}]))`;
}
