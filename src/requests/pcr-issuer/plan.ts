// SPDX-License-Identifier: Apache-2.0
import type { DeniedReason } from '#api/request/pod-certificate-request.ts';
import type { SignerError } from '#base/errors.ts';
import type { Proof } from './evidence/evidence.ts';
import type { CertificateTemplate } from '../issuing/issuing-ca.ts';

/**
 * The next action for a request. `deny` and `fail` are final, so they are only for requests that
 * can never succeed.
 */
export type PodPlan =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'wait'; readonly error: SignerError }
  | { readonly kind: 'deny'; readonly reason: DeniedReason; readonly message: string }
  | { readonly kind: 'fail'; readonly reason: 'MalformedRequest'; readonly message: string }
  | ({
      readonly kind: 'issue';
      readonly beginRefreshAt: number;
      /** Proof of its names, or undefined if they follow from the request alone. */
      readonly proof: Proof | undefined;
    } & CertificateTemplate);
