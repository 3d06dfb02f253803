// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '#base/bounded-map.ts';
import { createReservations } from '#kube/workqueue/token-bucket.ts';
import type { Clock, Delay } from '#base/ports.ts';

/**
 * The rate at which writes of a Signer, or of its CA, wake its requests: a few times at once, as
 * during setup, then once a second. Everyone who may write it may write it in a loop, and each
 * write wakes every waiting request.
 */
const RATE = { burst: 5, perSecond: 1 };
/** The limit of known signers. A forgotten one may have a burst again with its next write. */
const MAX_KNOWN = 10_000;

/** Wakes the requests of signers. */
export interface SignerWakes {
  /**
   * Wakes the requests after a change of the signer, or of its CA: at once, or with the next
   * changes within a second.
   */
  readonly wake: (signerName: string) => void;
  /** Cancels all pending wakes. */
  readonly stop: () => void;
}

interface SignerWakeState {
  readonly reserve: () => number;
  isDue: boolean;
}

/** The signer names that {@link createSignerWakes} wakes. */
export interface WokenNames {
  /**
   * Reports whether users of a namespace write the signer. A change by the administrator is never
   * delayed.
   */
  readonly isOfNamespace: (signerName: string) => boolean;
  /** Reconciles all requests of a signer name. */
  readonly look: (signerName: string) => void;
}

export function createSignerWakes(
  { clock, delay }: { readonly clock: Clock; readonly delay: Delay },
  { isOfNamespace, look }: WokenNames,
): SignerWakes {
  const known = new BoundedMap<string, SignerWakeState>(MAX_KNOWN);
  const stopped = new AbortController();
  return {
    wake: (signerName) => {
      if (!isOfNamespace(signerName)) {
        look(signerName);
        return;
      }
      const entry = known.get(signerName) ?? {
        reserve: createReservations({ ...RATE, clock }),
        isDue: false,
      };
      known.set(signerName, entry);
      // A pending wake covers this change, too.
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
