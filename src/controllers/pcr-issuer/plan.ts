// SPDX-License-Identifier: Apache-2.0
import type { DeniedReason } from '../../api/request/pod-certificate-request.ts';
import type { SignerError } from '../../errors.ts';
import type { Proof } from './evidence/evidence.ts';
import type { CertificateTemplate } from '../../runtime/issuing/issuing-ca.ts';

/**
 * What the shell does next. `deny` and `fail` are final: they are only for requests that can never succeed.
 */
export type PodPlan =
  | { readonly kind: 'ignore' }
  /** A v1beta1 request of an old kubelet, read through v1: read it through v1beta1. */
  | { readonly kind: 'reread' }
  | { readonly kind: 'wait'; readonly error: SignerError }
  | { readonly kind: 'deny'; readonly reason: DeniedReason; readonly message: string }
  | { readonly kind: 'fail'; readonly reason: 'MalformedRequest'; readonly message: string }
  | ({
      readonly kind: 'issue';
      readonly beginRefreshAt: number;
      /** What its names were proven by; undefined: they follow from the request alone. */
      readonly proof: Proof | undefined;
    } & CertificateTemplate);
