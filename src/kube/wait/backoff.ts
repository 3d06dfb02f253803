// SPDX-License-Identifier: Apache-2.0
import type { Random } from '#base/ports.ts';

/** An exponential backoff. */
export interface BackoffInit {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly random: Random;
}

/**
 * Returns the delay after so many failures, in milliseconds: `firstMs` doubled for each earlier
 * failure, at most `maxMs`, plus jitter of up to a half.
 */
export function backoffDelay(failures: number, init: BackoffInit): number {
  const base = Math.min(init.firstMs * 2 ** Math.min(failures, 30), init.maxMs);
  const jitter = Buffer.from(init.random(4)).readUInt32BE() / 2 ** 32;
  return base * (1 + jitter / 2);
}
