// SPDX-License-Identifier: Apache-2.0
/** Rules for delivering the leaf of an earlier attempt. */
import type { KubeObject } from '#api/object/object.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import { serverTime } from '#component/server-time.ts';
import type { RequestActorInit } from './actor.ts';
import type { Deliveries, KeptLeaf } from './deliveries.ts';
import { caOf } from './issue.ts';
import type { IssuedChain, IssuingCa } from './issuing-ca.ts';
import * as messages from './messages.ts';
import type { DeliverableRequest } from './stored-request.ts';

/**
 * Milliseconds to keep a chain for delivery, longer than usual outages of the API server. The API
 * server accepts notBefore of a PodCertificateRequest only within these five minutes
 * (validation.go, timeNear). It would accept even an expired leaf in a CertificateSigningRequest.
 */
const RESEND_WINDOW_MS = 5 * 60_000;

/** Requests of one kind, with the leaves that were signed for them. */
interface DeliveryParts<T extends DeliverableRequest, S, I extends IssuedChain> extends Pick<
  RequestActorInit<T, S>,
  'component' | 'cas' | 'signers'
> {
  readonly deliveries: Deliveries<T, I>;
}

/**
 * Returns the leaf of an earlier attempt if it was signed in the current context and no Revocation
 * refuses its holder since. Drops it otherwise. An earlier write that is still in flight cannot
 * succeed beside a new one, since both have the same precondition.
 *
 * @throws SignerError REVOCATIONS_UNKNOWN while the leaf stays for a later delivery
 */
export function reusableLeaf<
  T extends DeliverableRequest,
  S extends SignerObject,
  I extends IssuedChain,
>(
  at: DeliveryParts<T, S, I>,
  { request, leaf }: { readonly request: T; readonly leaf: KeptLeaf<I> | undefined },
  signer: S,
): KeptLeaf<I> | undefined {
  if (leaf === undefined) return undefined;
  if (isRecent(at, leaf) && isAllowed(at, leaf, signer)) return leaf;
  at.deliveries.drop(request);
  return undefined;
}

/**
 * Checks a leaf again directly before its delivery. Signing and recording may take seconds, and the
 * CA may be distrusted, the signer changed or the holder refused meanwhile. Drops the leaf then.
 *
 * @param signer - the signer by which it was decided
 * @throws SignerError SIGNER_CHANGED, to decide the request again
 */
export function requireDeliverable<
  T extends DeliverableRequest,
  S extends SignerObject,
  I extends IssuedChain,
>(
  at: DeliveryParts<T, S, I>,
  { request, leaf }: { readonly request: T; readonly leaf: KeptLeaf<I> },
  signer: S,
): void {
  const current = at.signers.serving(signer.spec.signerName);
  if (current !== undefined && isAllowed(at, leaf, current)) return;
  at.deliveries.drop(request);
  throw new SignerError({
    code: 'SIGNER_CHANGED',
    disposition: 'retry',
    message: messages.SIGNER_CHANGED,
  });
}

/** Reports whether a leaf is recent by both clocks, since either may have been set. */
function isRecent(
  { component }: Pick<DeliveryParts<never, never, never>, 'component'>,
  { since }: Pick<KeptLeaf<IssuedChain>, 'since'>,
): boolean {
  return Math.abs(serverTime(component) - since) < RESEND_WINDOW_MS;
}

/**
 * Reports whether a leaf was signed in the current context, and no Revocation refuses its holder.
 *
 * @throws SignerError REVOCATIONS_UNKNOWN
 */
function isAllowed<T extends DeliverableRequest, S extends SignerObject>(
  { cas }: Pick<RequestActorInit<T, S>, 'cas'>,
  { template: leaf, requester, signingContext }: KeptLeaf<IssuedChain>,
  signer: S,
): boolean {
  const { ca } = caOf(cas, signer);
  if (ca === undefined || signingContextOf(signer, ca) !== signingContext) return false;
  return cas.refusalOf?.(signer, { requester, leaf }) === undefined;
}

/**
 * Returns the context of a signature: the signer at that time, and its CA. A leaf is delivered
 * later only while both are unchanged. A new generation may forbid the leaf. A CA that may not sign
 * now may not have signed it either.
 */
export function signingContextOf(
  { metadata }: KubeObject,
  { identity }: Pick<IssuingCa<never>, 'identity'>,
): string {
  return `${metadata.uid}/${metadata.generation ?? ''}/${identity}`;
}
