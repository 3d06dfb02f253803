// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { CaChain } from '../issuance/prepare.ts';
import { requirePropagatedAnchor, propagatedAt } from '../issuance/propagation-gate.ts';
import { fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';

/** The state of the published bundle, and the time for which it must have an anchor. */
export interface Gate {
  /** Fingerprints in the served bundle, or undefined when there is no bundle yet. */
  readonly published: ReadonlySet<string> | undefined;
  readonly servedSince: ReadonlyMap<string, number>;
  readonly propagationSeconds: number;
  /** True if the previous CA is distrusted. The anchor must be published, but not for long. */
  readonly atOnce: boolean;
}

/**
 * Returns the milliseconds from which the CA may sign: once the anchors that every kubelet has by
 * then suffice for its chain. An anchor that is only added for a future root delays nothing.
 *
 * @returns undefined while not enough anchors are published
 */
export function signsFrom(chain: CaChain, gate: Gate, now: number): number | undefined {
  const served = chain.anchors
    .map((anchor) => ({ anchor, from: propagatedAt({ ...gate, anchor: fingerprint(anchor.raw) }) }))
    .filter((each): each is { anchor: Certificate; from: number } => each.from !== undefined)
    .sort((a, b) => a.from - b.from);
  return served.find(({ from }) => {
    const anchors = served.filter((each) => each.from <= from).map(({ anchor }) => anchor);
    return leadsTo(chain, anchors, now);
  })?.from;
}

function leadsTo(chain: CaChain, anchors: readonly Certificate[], now: number): boolean {
  const { certificate, intermediates } = chain;
  if (anchors.some(({ raw }) => sameBytes(raw, certificate.raw))) return true;
  const path = attempt(() => verifyPath({ leaf: certificate, intermediates, anchors, now }));
  return !(path instanceof SignerError);
}

/**
 * Enforces "publish, wait, then sign".
 *
 * @throws SignerError ANCHOR_NOT_SERVED (`authority`) with the missing anchor and its time
 */
export function requireServedChain(chain: CaChain, gate: Gate, now: number): void {
  const from = signsFrom(chain, gate, now);
  if (from !== undefined && now >= from) return;
  // If all are served and none leads there, the chain itself is at fault, which signing finds.
  for (const { raw } of chain.anchors) {
    requirePropagatedAnchor({ ...gate, anchor: fingerprint(raw), now });
  }
}
