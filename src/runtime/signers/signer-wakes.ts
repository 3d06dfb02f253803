// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import { isDerivedName } from '../../api/signer/signer.ts';
import { createReservations } from '../../kube/workqueue/token-bucket.ts';
import type { Clock, Delay } from '../../ports.ts';

/**
 * How often the requests of a Signer are looked at again because it, or its CA, was written: a few times at once, as while it
 * is set up, then once a second. Who may write it may write it in a loop, and each write wakes every request that waits.
 */
const RATE = { burst: 5, perSecond: 1 };
/** Others are known from their next write on; it only means that a burst is allowed again. */
const MAX_KNOWN = 10_000;

/** What wakes the requests of signers. */
export interface SignerWakes {
  /** The signer, or its CA, has changed: at once, or with the next changes within a second. */
  readonly wake: (signerName: string) => void;
  /** Nobody waits any more. */
  readonly stop: () => void;
}

interface Known {
  readonly reserve: () => number;
  isDue: boolean;
}

/** @param look - looks at all requests of a signer name. What the administrator wrote is never put off. */
export function createSignerWakes(
  { clock, delay }: { readonly clock: Clock; readonly delay: Delay },
  look: (signerName: string) => void,
): SignerWakes {
  const known = new BoundedMap<string, Known>(MAX_KNOWN);
  const stopped = new AbortController();
  return {
    wake: (signerName) => {
      if (!isDerivedName(signerName)) {
        look(signerName);
        return;
      }
      const entry = known.get(signerName) ?? {
        reserve: createReservations({ ...RATE, clock }),
        isDue: false,
      };
      known.set(signerName, entry);
      // One that is to come sees this change, too.
      if (entry.isDue) return;
      const wait = entry.reserve();
      if (wait === 0) {
        look(signerName);
        return;
      }
      entry.isDue = true;
      void delay(wait, stopped.signal).then(
        () => {
          entry.isDue = false;
          look(signerName);
        },
        () => undefined,
      );
    },
    stop: () => {
      stopped.abort();
    },
  };
}
