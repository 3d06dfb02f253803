// SPDX-License-Identifier: Apache-2.0

/** Ctrl-C ends the bench through `exit`, on which every process that it started is ended. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
}
