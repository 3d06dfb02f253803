// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import { OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import type { Flag } from '#component/flag.ts';
import { addVault } from '#component/vault/flag.ts';

/** Flags of `authority`, which issues the certificates of all our ports. */
export interface AuthorityFlags {
  readonly servingNamespace?: string;
  readonly servingSigner?: string;
  readonly acmeAccountKeys: boolean;
  readonly aggregatedApi: boolean;
  /** Seconds. */
  readonly targetDeadline: number;
  /** Server of Vault → file with the token for it. */
  readonly upstreamVault?: ReadonlyMap<string, string>;
}

/** Three times the default of --propagation, so that an administrator has time to react. */
const TARGET_DEADLINE_SECONDS = 1_800;

/** {@link AuthorityFlags} */
export const AUTHORITY_FLAGS: readonly Flag[] = [
  {
    flag: '--serving-namespace <name>',
    help: 'namespace of the components, for their serving certificates (default: the namespace of the Leases)',
  },
  {
    flag: '--serving-signer <name>',
    help: 'signer name whose CA signs the serving certificates; without such a ClusterSigner, none are issued',
    default: OWN_TLS_SIGNER,
  },
  {
    flag: '--target-deadline <duration>',
    help: 'maximum time that a CA waits for the targets of trust-distributor after its anchor is published',
    parse: parseDuration,
    default: TARGET_DEADLINE_SECONDS,
    shown: '30m',
  },
  {
    flag: '--acme-account-keys',
    help: 'also create the account keys of AcmeClusterSigners, in Secrets that the role names',
    default: false,
  },
  {
    flag: '--aggregated-api',
    help: 'also write the CA of the ledger into its APIService, which the role names',
    default: false,
  },
  {
    flag: '--upstream-vault <server=file>',
    help: 'server of Vault that signs managed CAs, and the file with the token for it (repeatable)',
    add: addVault,
  },
];
