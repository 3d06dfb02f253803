// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';
import type { Connection, Credentials } from './connection.ts';

/** The kubelet rotates bound tokens well before they end (at 80 % of their life): a minute is safe. */
const CREDENTIALS_CACHE_MS = 60_000;
/** What cannot be read is tried again after this, and not with each of a thousand calls a second. */
const AGAIN_MS = 5_000;

/**
 * Remembers credentials for a minute. Readers that come together share one reading: an exec plugin
 * is not started twice. While reading fails, the old ones are kept, unless the server refused them:
 * a file may be missing for a moment while it is replaced.
 *
 * @param read - `anew` asks for more than files read again: plugins must be asked, too
 */
export function cacheCredentials(
  read: (anew: boolean) => Promise<Credentials>,
  { clock, onUnreadable }: { readonly clock: Clock; readonly onUnreadable?: () => void },
): Pick<Connection, 'credentials' | 'invalidate'> {
  let cached: { readonly value: Credentials; readonly until: number } | undefined;
  let reading: Promise<Credentials> | undefined;
  let refused = false;

  async function renew(): Promise<Credentials> {
    try {
      const value = await read(refused);
      refused = false;
      cached = { value, until: clock() + CREDENTIALS_CACHE_MS };
      return value;
    } catch (error) {
      if (cached === undefined) throw error;
      onUnreadable?.();
      cached = { value: cached.value, until: clock() + AGAIN_MS };
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
      // Of many calls that got a 401 together, only the first makes us read anew.
      if (cached?.value !== value) return;
      cached = undefined;
      refused = true;
    },
  };
}
