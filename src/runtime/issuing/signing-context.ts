// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import { SignerError, attempt } from '../../errors.ts';
import { serverTime } from '../component/server-time.ts';
import type { IssuingCa } from './issuing-ca.ts';
import type { RequestKindInit } from './request-kind.ts';

/**
 * How long a chain is kept for delivery, in milliseconds; outages of the API server are shorter. The API server
 * accepts notBefore of a PodCertificateRequest within these five minutes only (validation.go, timeNear), and would
 * accept even an expired leaf in a CertificateSigningRequest.
 */
const RESEND_WINDOW_MS = 5 * 60_000;

/** When and in which context a chain was signed. */
interface Signed {
  /** By the API server's clock, in milliseconds. */
  readonly since: number;
  readonly signingContext: string;
}

/**
 * Whether the chain is young enough by both clocks, since either may have been set, and was signed in the
 * current context.
 */
export function isDeliverable<T, S extends KubeObject>(
  { component, issuingOf }: Pick<RequestKindInit<T, S, never>, 'component' | 'issuingOf'>,
  { since, signingContext }: Signed,
  signer: S,
): boolean {
  if (Math.abs(serverTime(component) - since) >= RESEND_WINDOW_MS) return false;
  const issuing = attempt(() => issuingOf(signer));
  return !(issuing instanceof SignerError) && signingContextOf(signer, issuing) === signingContext;
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
