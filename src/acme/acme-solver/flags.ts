// SPDX-License-Identifier: Apache-2.0
import {
  DNS_FLAGS,
  HTTP01_FLAGS,
  NAMESPACED_FLAGS,
  type DnsFlags,
  type Http01Flags,
  type NamespacedFlags,
} from '../flags.ts';
import { CREDENTIAL_NAMESPACE } from '#api/acme/names.ts';
import type { Flag } from '#component/flag.ts';

/** Flags of `acme-solver`. */
export interface AcmeSolverFlags extends Http01Flags, DnsFlags, NamespacedFlags {
  readonly credentialNamespace: string;
}

/** See {@link AcmeSolverFlags}. */
export const ACME_SOLVER_FLAGS: readonly Flag[] = [
  ...HTTP01_FLAGS,
  ...DNS_FLAGS,
  ...NAMESPACED_FLAGS,
  {
    flag: '--credential-namespace <name>',
    help: 'namespace of the DNS credentials of AcmeClusterSigners; providers read Secrets there, so keep nothing else in it',
    default: CREDENTIAL_NAMESPACE,
  },
];
