// SPDX-License-Identifier: Apache-2.0

/** `our clock is 75 s ahead of that of the API server`; @param clockOffset - milliseconds */
export function offsetText(clockOffset: number): string {
  const seconds = Math.round(Math.abs(clockOffset) / 1000);
  const way = clockOffset < 0 ? 'behind' : 'ahead of';
  return `our clock is ${seconds} s ${way} that of the API server`;
}
