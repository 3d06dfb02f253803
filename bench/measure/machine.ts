// SPDX-License-Identifier: Apache-2.0
import { cpus, totalmem } from 'node:os';

/** What the figures depend on; nothing that tells whose machine it is. */
export interface Machine {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGiB: number;
  readonly node: string;
  /** Absent where no cluster takes part. */
  readonly kubernetes?: string;
}

export function readMachine(kubernetes?: string): Machine {
  return {
    // All cores of the machine, although a bench may have pinned itself to one.
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    ...(kubernetes === undefined ? {} : { kubernetes }),
  };
}
