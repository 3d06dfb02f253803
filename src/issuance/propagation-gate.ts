// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';

/**
 * How long a bundle must have been served with a new anchor before a leaf may need it. Kubelets
 * that read a bundle by name lag up to 374 s (kubernetes/kubernetes#141439, not fixed in 1.37.1).
 */
export const DEFAULT_PROPAGATION_SECONDS = 600;

export interface PropagationInput {
  /** Fingerprint of the anchor that the leaf will chain to. */
  readonly anchor: string;
  /** Fingerprints in the bundle as served, or undefined when there is no bundle yet. */
  readonly published: ReadonlySet<string> | undefined;
  /** The bundle's served-since: fingerprint → milliseconds. */
  readonly servedSince: ReadonlyMap<string, number>;
  readonly propagationSeconds: number;
  /** The CA before it is distrusted: to wait for every kubelet would be the greater harm. */
  readonly atOnce?: boolean;
  readonly now: number;
}

/** Milliseconds from which on a leaf may need the anchor; undefined while it is not served. */
export function propagatedAt(input: Omit<PropagationInput, 'now'>): number | undefined {
  const since = input.servedSince.get(input.anchor);
  if (input.published?.has(input.anchor) !== true || since === undefined) return undefined;
  // Also by what was said of them: an anchor that was just edited out is dated all the same.
  const isOnly = input.published.size === 1 && input.servedSince.size === 1;
  if (isOnly || input.atOnce === true) return Number.NEGATIVE_INFINITY;
  return since + input.propagationSeconds * 1000;
}

/**
 * Publish, then sign: passes only when the anchor is served, and has been served long enough for
 * every kubelet to have it.
 *
 * Exempt is the bundle's only anchor, so that a new signer signs at once: its bundle had none before,
 * and no leaf is worth anything without it. Where there are several, none is exempt, not even the
 * eldest: whoever deletes the bundle or edits an anchor out has it dated anew, which would make the
 * first of one that most kubelets have not read yet. The price: an anchor that comes within the
 * propagation time of the very first holds that up as well, and a CA whose first bundle has two
 * anchors waits once.
 *
 * @throws SignerError ANCHOR_NOT_SERVED (`authority`)
 */
export function requirePropagatedAnchor(input: PropagationInput): void {
  const ready = propagatedAt(input);
  if (ready === undefined) {
    throw notServed(
      `the trust anchor ${input.anchor} is not in the published bundle yet; is the attester running?`,
    );
  }
  if (input.now < ready) {
    throw notServed(
      `the trust anchor ${input.anchor} was added to the bundle a short while ago; signing with it begins at ${new Date(ready).toISOString()}, when every kubelet has it`,
    );
  }
}

function notServed(message: string): SignerError {
  return new SignerError({ code: 'ANCHOR_NOT_SERVED', disposition: 'authority', message });
}
