// SPDX-License-Identifier: Apache-2.0
/** Rules for delivering the leaf of an earlier attempt. */
import type { KubeObject } from '#api/object/object.ts';
import { serverTime } from '#component/server-time.ts';
import type { RequestFacts } from '../recording/request-record.ts';
import type { RequestActorInit } from './actor.ts';
import type { Deliveries, KeptLeaf } from './deliveries.ts';
import { caOf } from './issue.ts';
import type { IssuedChain, IssuingCa } from './issuing-ca.ts';
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
  'component' | 'cas'
> {
  readonly deliveries: Deliveries<T, I>;
}

/**
 * Returns the leaf of an earlier attempt if it was signed in the current context and no Revocation
 * refuses its holder since. Drops it otherwise. An earlier write that is still in flight cannot
 * succeed beside a new one, since both have the same precondition.
 *
 * @param factsOf - returns the facts of the request, as the ledger records them
 * @throws SignerError REVOCATIONS_UNKNOWN while the leaf stays for a later delivery
 */
export function reusableLeaf<
  T extends DeliverableRequest,
  S extends KubeObject,
  I extends IssuedChain,
>(
  at: DeliveryParts<T, S, I>,
  { request, leaf }: { readonly request: T; readonly leaf: KeptLeaf<I> | undefined },
  signer: S,
  factsOf: (request: T, signer: S) => RequestFacts,
): KeptLeaf<I> | undefined {
  if (leaf === undefined) return undefined;
  if (isCurrent(at, leaf, signer)) {
    const { requester } = factsOf(request, signer);
    const refusal = at.cas.refusalOf?.(signer, { requester, leaf: leaf.template });
    if (refusal === undefined) return leaf;
  }
  at.deliveries.drop(request);
  return undefined;
}

/**
 * Reports whether a leaf is recent and was signed in the current context. Checks both clocks, since
 * either may have been set.
 */
function isCurrent<T, S extends KubeObject>(
  { component, cas }: Pick<RequestActorInit<T, S>, 'component' | 'cas'>,
  { since, signingContext }: Pick<KeptLeaf<IssuedChain>, 'since' | 'signingContext'>,
  signer: S,
): boolean {
  if (Math.abs(serverTime(component) - since) >= RESEND_WINDOW_MS) return false;
  const { ca } = caOf(cas, signer);
  return ca !== undefined && signingContextOf(signer, ca) === signingContext;
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
