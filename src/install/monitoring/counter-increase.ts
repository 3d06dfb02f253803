// SPDX-License-Identifier: Apache-2.0

/**
 * Returns PromQL for a counter's increase. A series with labels begins with its first event, at 1,
 * where `increase()` is 0. A series younger than `range` therefore counts in full.
 *
 * @param counter - a selector
 * @param range - Prometheus duration, such as `1h`
 */
export function counterIncrease(counter: string, range: string): string {
  return `((${counter} unless ${counter} offset ${range}) or increase(${counter}[${range}]))`;
}
