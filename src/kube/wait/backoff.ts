// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../../ports.ts';

export interface BackoffInit {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly random: Random;
}

/** Delay before attempt `failures + 1`: doubling, capped, and spread by up to a half on top. */
export function backoffDelay(failures: number, init: BackoffInit): number {
  const base = Math.min(init.firstMs * 2 ** Math.min(failures, 30), init.maxMs);
  const jitter = Buffer.from(init.random(4)).readUInt32BE() / 2 ** 32;
  return base * (1 + jitter / 2);
}
