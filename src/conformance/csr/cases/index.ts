// SPDX-License-Identifier: Apache-2.0
import type { Case } from '../../case.ts';
import type { CsrSnapshot } from '../snapshot.ts';
import { CSR_CERTIFICATES } from './certificate.ts';
import { CSR_LIFECYCLE } from './lifecycle.ts';
import { CSR_REQUESTED } from './requested.ts';
import { CSR_UPSTREAM } from './upstream.ts';

/** Every case of `--kind csr`: CertificateSigningRequests of certificates.k8s.io/v1. */
export const CSR_CASES: readonly Case<CsrSnapshot>[] = [
  ...CSR_LIFECYCLE,
  ...CSR_CERTIFICATES,
  ...CSR_REQUESTED,
  ...CSR_UPSTREAM,
];
