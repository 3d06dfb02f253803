// SPDX-License-Identifier: Apache-2.0
import type { Case } from '../../case.ts';
import type { PcrSnapshot } from '../snapshot.ts';
import { PCR_CERTIFICATES } from './certificate.ts';
import { PCR_LIFECYCLE } from './lifecycle.ts';
import { PCR_SERVICES } from './services.ts';
import { PCR_UPSTREAM } from './upstream.ts';

/** Every case of `--kind pcr`: PodCertificateRequests of certificates.k8s.io (KEP-4317). */
export const PCR_CASES: readonly Case<PcrSnapshot>[] = [
  ...PCR_LIFECYCLE,
  ...PCR_CERTIFICATES,
  ...PCR_UPSTREAM,
  ...PCR_SERVICES,
];
