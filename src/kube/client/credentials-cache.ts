// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '#base/ports.ts';
import type { Connection, Credentials } from './connection.ts';

/** The kubelet rotates bound tokens at 80 % of their lifetime: a minute is safe. */
const CREDENTIALS_CACHE_MS = 60_000;
/**
 * Delay before unreadable credentials are read again. Without it, each of a thousand requests a
 * second would try.
 */
const RETRY_CREDENTIALS_MS = 5_000;

/**
 * Caches credentials for a minute. Concurrent callers share one read, so that an exec plugin does
 * not start twice.
 *
 * While reading fails, the previous credentials stay in use unless the server rejected them: a file
 * may be missing for a moment while it is replaced.
 *
 * @param read - reads the credentials. With `reload`, it runs exec plugins again, too.
 */
export function cacheCredentials(
  read: (reload: boolean) => Promise<Credentials>,
  { clock, onUnreadable }: { readonly clock: Clock; readonly onUnreadable?: () => void },
): Pick<Connection, 'credentials' | 'invalidate'> {
  let cached: { readonly value: Credentials; readonly at: number; readonly ms: number } | undefined;
  let reading: Promise<Credentials> | undefined;
  let rejected = false;

  async function renew(): Promise<Credentials> {
    try {
      const value = await read(rejected);
      rejected = false;
      cached = { value, at: clock(), ms: CREDENTIALS_CACHE_MS };
      return value;
    } catch (error) {
      if (cached === undefined) throw error;
      onUnreadable?.();
      cached = { value: cached.value, at: clock(), ms: RETRY_CREDENTIALS_MS };
      return cached.value;
    } finally {
      reading = undefined;
    }
  }

  return {
    credentials: () => {
      // A clock that was set back must not prolong this.
      if (cached !== undefined && Math.abs(clock() - cached.at) < cached.ms) {
        return Promise.resolve(cached.value);
      }
      reading ??= renew();
      return reading;
    },
    invalidate: (value) => {
      // If many requests get a 401 together, only the first causes a read.
      if (cached?.value !== value) return;
      cached = undefined;
      rejected = true;
    },
  };
}
