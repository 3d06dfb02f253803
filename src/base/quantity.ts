// SPDX-License-Identifier: Apache-2.0

/** Returns a number with its noun: `1 pod`, `2 pods`. The plural ends in `s`. */
export function quantity(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
