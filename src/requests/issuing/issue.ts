// SPDX-License-Identifier: Apache-2.0
/** The CA of a signer, and the call that issues a leaf. */
import { SignerError } from '#base/errors.ts';
import type { Component } from '#component/contract.ts';
import { traced } from '#component/tracing.ts';
import type { Validity } from '#ca/issuance/validity.ts';
import type {
  CertificateTemplate,
  IssuedChain,
  IssuingCa,
  IssuingCas,
  NotIssued,
} from './issuing-ca.ts';

/** The CA that signs for a signer now with its own validity, or the error. */
export type CaNow<R> =
  | { readonly ca: IssuingCa<R>; readonly authority: Validity }
  | { readonly ca: undefined; readonly authority: SignerError };

/** Finds the CA that signs for a signer now. */
export function caOf<S, R>(cas: Pick<IssuingCas<S, R>, 'issuing'>, signer: S): CaNow<R> {
  try {
    const ca = cas.issuing(signer);
    return { ca, authority: ca.validity };
  } catch (error) {
    if (error instanceof SignerError) return { ca: undefined, authority: error };
    throw error;
  }
}

/** Makes the CA issue a leaf, in a span of its own if requests are traced. */
export function issueLeaf<R>(
  component: Pick<Component, 'tracing'>,
  ca: IssuingCa<R>,
  template: CertificateTemplate,
  request: R,
): Promise<IssuedChain | NotIssued> {
  return traced(component, 'sign', () => ca.issue(template, request));
}
