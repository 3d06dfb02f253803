// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';
import type { Connection, Credentials } from './connection.ts';

/** The kubelet rotates bound tokens at 80 % of their lifetime: a minute is safe. */
const CREDENTIALS_CACHE_MS = 60_000;
/** Credentials that cannot be read are read again after this time, and not with each of a thousand requests a second. */
const RETRY_CREDENTIALS_MS = 5_000;

/**
 * Caches credentials for a minute. Concurrent callers share one read: an exec plugin is not started twice. While
 * reading fails, the previous credentials stay in use, because a file may be missing for a moment while it is
 * replaced; unless the server rejected them.
 *
 * @param read - reads the credentials; with `reload`, exec plugins must run again, too
 */
export function cacheCredentials(
  read: (reload: boolean) => Promise<Credentials>,
  { clock, onUnreadable }: { readonly clock: Clock; readonly onUnreadable?: () => void },
): Pick<Connection, 'credentials' | 'invalidate'> {
  let cached: { readonly value: Credentials; readonly until: number } | undefined;
  let reading: Promise<Credentials> | undefined;
  let rejected = false;

  async function renew(): Promise<Credentials> {
    try {
      const value = await read(rejected);
      rejected = false;
      cached = { value, until: clock() + CREDENTIALS_CACHE_MS };
      return value;
    } catch (error) {
      if (cached === undefined) throw error;
      onUnreadable?.();
      cached = { value: cached.value, until: clock() + RETRY_CREDENTIALS_MS };
      return cached.value;
    } finally {
      reading = undefined;
    }
  }

  return {
    credentials: () => {
      if (cached !== undefined && clock() < cached.until) return Promise.resolve(cached.value);
      reading ??= renew();
      return reading;
    },
    invalidate: (value) => {
      // Of many requests that got a 401 together, only the first causes a read.
      if (cached?.value !== value) return;
      cached = undefined;
      rejected = true;
    },
  };
}
