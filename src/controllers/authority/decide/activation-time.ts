// SPDX-License-Identifier: Apache-2.0
import { signsAtOnce } from '../../../api/signer/grant.ts';
import type { AuthorityFacts } from '../../../authorities/contract.ts';
import type { CaCertificate } from '../../../rotation/ca-certificate.ts';
import { signsFrom } from '../../../rotation/signs-from.ts';
import { servedBy } from '../../../runtime/ca/anchor-gate.ts';
import type { SignerSnapshot } from './snapshot.ts';

/** When signers begin to sign with the CA in `tls.*`, by the rules that signers apply; milliseconds. */
export function activationTime(
  snapshot: SignerSnapshot,
  facts: AuthorityFacts,
): number | undefined {
  const { signer, secret, bundle, propagationSeconds, now } = snapshot;
  if (signer.spec.trustBundle === undefined) return Number.NEGATIVE_INFINITY;
  const atOnce = secret.kind === 'found' && signsAtOnce(secret.secret, facts.fingerprint);
  return signsFrom(facts, { ...servedBy(bundle), propagationSeconds, atOnce }, now);
}

/**
 * When the anchor of a managed CA was first served; milliseconds. Never before the CA was created, even if a
 * slow clock wrote an earlier time. If no bundle is published, people who distribute anchors by hand get the
 * same time for it, counted from the creation of the CA.
 */
export function servedSinceOf(
  { signer, bundle }: SignerSnapshot,
  held: CaCertificate,
): number | undefined {
  if (signer.spec.trustBundle === undefined) return held.bornAt;
  const { published, servedSince } = servedBy(bundle);
  const since = servedSince.get(held.fingerprint);
  if (since === undefined || published?.has(held.fingerprint) !== true) return undefined;
  return Math.max(since, held.bornAt);
}
