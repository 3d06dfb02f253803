// SPDX-License-Identifier: Apache-2.0
import { formatTime } from '#api/object/time.ts';
import { SignerError } from '#base/errors.ts';

/**
 * The time for which the published bundle must have had a new anchor before a leaf may chain to it.
 * Kubelets that project a bundle by name lag up to 374 s (kubernetes/kubernetes#141439, not fixed
 * in 1.37.1).
 */
export const DEFAULT_PROPAGATION_SECONDS = 600;

/** The state of one anchor in its published bundle. */
export interface PropagationInput {
  /** Fingerprint of the anchor that the leaf will chain to. */
  readonly anchor: string;
  /** Fingerprints in the published bundle. Undefined while there is no bundle. */
  readonly published: ReadonlySet<string> | undefined;
  /** Annotation `served-since` of the bundle: fingerprint → milliseconds since the epoch. */
  readonly servedSince: ReadonlyMap<string, number>;
  readonly propagationSeconds: number;
  /** True if the previous CA is distrusted: waiting for every kubelet would do more harm. */
  readonly atOnce?: boolean;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
}

/**
 * Returns when a leaf may chain to the anchor, in milliseconds since the epoch.
 *
 * @returns undefined while the anchor is not published. -Infinity if it need not propagate.
 */
export function propagatedAt(input: Omit<PropagationInput, 'now'>): number | undefined {
  const since = input.servedSince.get(input.anchor);
  if (input.published?.has(input.anchor) !== true || since === undefined) return undefined;
  // servedSince must have one entry, too. It still lists an anchor that was just edited out of the
  // bundle.
  const isOnly = input.published.size === 1 && input.servedSince.size === 1;
  if (isOnly || input.atOnce === true) return Number.NEGATIVE_INFINITY;
  return since + input.propagationSeconds * 1000;
}

/**
 * Enforces "publish, then sign": passes once the anchor has been in the bundle long enough for
 * every kubelet to have loaded it.
 *
 * The only anchor of a bundle is exempt, so that a new signer can sign immediately: without that
 * anchor no leaf of the signer can be verified anyway. Of several anchors none is exempt, not even
 * the oldest. If a user deletes the bundle or edits an anchor out, its time restarts, and an
 * exemption would cover an anchor that most kubelets have not loaded.
 *
 * The cost: an anchor added within the propagation time of the first one delays that one too, and a
 * CA whose first bundle has two anchors waits once.
 *
 * @throws SignerError ANCHOR_NOT_SERVED (`authority`) until then
 */
export function requirePropagatedAnchor(input: PropagationInput): void {
  const ready = propagatedAt(input);
  if (ready === undefined || input.now < ready) throw notServed(waitText(input.anchor, ready));
}

/** @param ready - when a leaf may chain to the anchor. Undefined while it is not published */
export function waitText(anchor: string, ready: number | undefined): string {
  return ready === undefined
    ? `the trust anchor ${anchor} is not in the published bundle yet, so nothing is signed with this CA; check that the attester is running`
    : `the trust anchor ${anchor} was published recently; signing with this CA starts at ${formatTime(ready)}, when every kubelet has loaded the anchor`;
}

function notServed(message: string): SignerError {
  return new SignerError({ code: 'ANCHOR_NOT_SERVED', disposition: 'authority', message });
}
