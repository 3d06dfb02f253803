// SPDX-License-Identifier: Apache-2.0
import type { Case } from '../../case.ts';
import type { CrSnapshot } from '../snapshot.ts';
import { CR_CERTIFICATES } from './certificate.ts';
import { CR_LIFECYCLE } from './lifecycle.ts';
import { CR_REQUESTED } from './requested.ts';

/** Every case of `--kind certificaterequest`: CertificateRequests of cert-manager.io/v1. */
export const CR_CASES: readonly Case<CrSnapshot>[] = [
  ...CR_LIFECYCLE,
  ...CR_CERTIFICATES,
  ...CR_REQUESTED,
];
