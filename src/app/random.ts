// SPDX-License-Identifier: Apache-2.0
import type { Random } from '#base/ports.ts';

/** Size of the pool. A certificate takes 20 bytes in two calls, so one refill serves 200. */
const POOL_BYTES = 4096;

/**
 * Reads many bytes at once, because a system call costs as much for four bytes as for thousands. It
 * returns each byte once, and wipes it from the pool.
 * @param fill - fills an array with cryptographically secure bytes, or throws
 */
export function createPooledRandom(fill: (bytes: Uint8Array) => void): Random {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;

  function refill(): void {
    // If `fill` throws halfway, the pool stays empty.
    used = POOL_BYTES;
    fill(pool);
    used = 0;
  }

  return (size) => {
    if (size > POOL_BYTES) {
      const bytes = new Uint8Array(size);
      fill(bytes);
      return bytes;
    }
    if (size > POOL_BYTES - used) refill();
    const bytes = pool.slice(used, used + size);
    pool.fill(0, used, used + size);
    used += size;
    return bytes;
  };
}
