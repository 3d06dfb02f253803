// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../ports.ts';

/** A certificate takes 20 bytes in two calls: one refill serves 200 certificates. */
const POOL_BYTES = 4096;

/**
 * Reads many bytes at once: a call of the system's source costs as much for four bytes as for
 * thousands. Bytes are handed out once, and wiped from the pool.
 *
 * @param fill - fills an array with cryptographically secure bytes, or throws
 */
export function createPooledRandom(fill: (bytes: Uint8Array) => void): Random {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;

  function refill(): void {
    // If `fill` throws half-way, the pool stays empty.
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
