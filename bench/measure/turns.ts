// SPDX-License-Identifier: Apache-2.0

/** A B C, B C A, C A B, …: what changes on the machine meanwhile touches all of them alike. */
export function inTurns<T>(all: readonly T[], rounds: number): readonly (readonly T[])[] {
  return Array.from({ length: rounds }, (_, round) => {
    const first = round % all.length;
    return [...all.slice(first), ...all.slice(0, first)];
  });
}
