// SPDX-License-Identifier: Apache-2.0
import type { Random } from '../ports.ts';

/** Two calls a certificate take 20 bytes: one draw for two hundred of them. */
const POOL_BYTES = 4096;

/**
 * Draws many bytes at once: a call of the system's source costs as much for four of them as for
 * thousands. What was handed out is wiped from the pool, and handed out once.
 *
 * @param fill - fills with bytes of a cryptographically secure source, or throws
 */
export function createPooledRandom(fill: (bytes: Uint8Array) => void): Random {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;

  function refill(): void {
    // Should it throw half-way, what the pool holds is not handed out.
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
