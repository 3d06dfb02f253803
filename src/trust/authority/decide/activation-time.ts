// SPDX-License-Identifier: Apache-2.0
import { signsAtOnce } from '#api/signer/grant.ts';
import type { AuthorityFacts } from '#ca/custody/contract.ts';
import type { CaCertificate } from '#ca/rotation/ca-certificate.ts';
import { signsFrom } from '#ca/rotation/signs-from.ts';
import { servedBy } from '#requests/ca/anchor-gate.ts';
import type { SignerSnapshot } from './snapshot.ts';

/**
 * Returns when signers start to sign with the CA in `tls.*`, by the rules of signers, in
 * milliseconds.
 */
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
 * Returns when the anchor of a managed CA was first served, in milliseconds, but not before the CA
 * was created, even if a slow clock wrote an earlier time. Without a published bundle, users who
 * distribute anchors by hand get the same time, counted from the creation of the CA.
 */
export function servedSinceOf(
  { signer, bundle }: SignerSnapshot,
  held: CaCertificate,
): number | undefined {
  if (signer.spec.trustBundle === undefined) return held.bornAt;
  const { published, servedSince } = servedBy(bundle);
  const { anchors = [held.fingerprint] } = held;
  const times = anchors.flatMap((each) =>
    published?.has(each) === true ? (servedSince.get(each) ?? []) : [],
  );
  return times.length === 0 ? undefined : Math.max(Math.min(...times), held.bornAt);
}
