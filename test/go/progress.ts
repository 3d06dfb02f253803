// SPDX-License-Identifier: Apache-2.0

/** A build between its start and its end. */
export interface Progress {
  /** Since `go build` started. */
  readonly seconds: number;
  /** Packages that `go build -v` has printed: those at work and those that are compiled. */
  readonly begun: number;
  /** Packages to compile; undefined if `go list` failed. */
  readonly total?: number;
}

/** Before this share is compiled, one large package changes the estimate too much. */
const MIN_SHARE = 0.05;

/**
 * Returns what a person reads while a Go program is built: percent, packages and minutes left. The
 * estimate takes the packages that are left to be as large as those before.
 */
export function progressLine({ seconds, begun, total }: Progress): string {
  if (total === undefined) return `building: ${seconds} s, ${begun} packages`;
  if (begun >= total) return `building: ${seconds} s, 100 % of ${total} packages, linking`;
  const share = begun / total;
  const head = `building: ${seconds} s, ${Math.floor(share * 100)} % of ${total} packages`;
  if (share < MIN_SHARE) return head;
  const minutes = Math.ceil((seconds * (1 - share)) / share / 60);
  return `${head}, about ${minutes} min left`;
}
