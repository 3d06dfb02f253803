// SPDX-License-Identifier: Apache-2.0
/** Whether a leaf may be handed to who asks for it, now. */
import type { HolderRefusal } from '../../revocation/holders.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { SignerError, attempt } from '../../errors.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { serverTime } from '../component/server-time.ts';
import type { CertificateTemplate, IssuingCa } from './issuing-ca.ts';
import type { RequestKindInit } from './request-kind.ts';

/**
 * How long a chain is kept for delivery, in milliseconds; outages of the API server are shorter. The API server
 * accepts notBefore of a PodCertificateRequest within these five minutes only (validation.go, timeNear), and would
 * accept even an expired leaf in a CertificateSigningRequest.
 */
const RESEND_WINDOW_MS = 5 * 60_000;

/** One request in progress. */
export interface Attempt<T, S> {
  readonly request: T;
  readonly signer: S;
  /** The version of the API through which it is read and written. */
  readonly via: Resource;
}

/** What is remembered of a chain that is signed and perhaps not delivered. */
interface Signed {
  readonly leaf: CertificateTemplate;
  /** By the API server's clock, in milliseconds. */
  readonly since: number;
  readonly signingContext: string;
}

/**
 * Why the holder of a leaf gets none; undefined: nothing refuses them.
 *
 * @throws SignerError why nobody can know
 */
export function refusalOf<T, S>(
  init: Pick<RequestKindInit<T, S, never>, 'refusalOf' | 'askedOf'>,
  { request, signer }: Pick<Attempt<T, S>, 'request' | 'signer'>,
  leaf: CertificateTemplate,
): HolderRefusal | undefined {
  if (init.refusalOf === undefined) return undefined;
  const { requester } = init.askedOf(request, signer);
  return init.refusalOf(signer, { requester, leaf });
}

/**
 * Whether the chain is young enough by both clocks, since either may have been set, was signed in the
 * current context, and no Revocation refuses it since.
 */
export function isDeliverable<T, S extends KubeObject>(
  init: Pick<RequestKindInit<T, S, never>, 'component' | 'issuingOf' | 'refusalOf' | 'askedOf'>,
  { since, signingContext, leaf }: Signed,
  at: Pick<Attempt<T, S>, 'request' | 'signer'>,
): boolean {
  const { component, issuingOf } = init;
  const { signer } = at;
  if (Math.abs(serverTime(component) - since) >= RESEND_WINDOW_MS) return false;
  const issuing = attempt(() => issuingOf(signer));
  if (issuing instanceof SignerError) return false;
  if (signingContextOf(signer, issuing) !== signingContext) return false;
  return refusalOf(init, at, leaf) === undefined;
}

/**
 * The context in which a leaf was signed: the signer at that time, and its CA. A leaf is delivered later only
 * while both are unchanged. A new generation may forbid the leaf. A CA that may not sign now may not have
 * signed it either.
 */
export function signingContextOf(
  { metadata }: KubeObject,
  { identity }: Pick<IssuingCa<never>, 'identity'>,
): string {
  return `${metadata.uid}/${metadata.generation ?? ''}/${identity}`;
}
