// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { OWN_TLS_SIGNER } from '../api/signer/own-tls.ts';
import type { ComponentOptions } from './component-options.ts';

/** The flags of the component `authority`, which makes the certificates of all our ports. */
export interface AuthorityOptions extends ComponentOptions {
  readonly servingNamespace?: string;
  readonly servingSigner?: string;
}

/** Adds those of {@link AuthorityOptions} that the other components do not have. */
export function addOwnTlsOptions(command: Command): Command {
  return command
    .option(
      '--serving-namespace <name>',
      'namespace of the components, whose serving certificates are made there (default: that of the Leases)',
    )
    .option(
      '--serving-signer <name>',
      'signer name whose CA signs them; while no ClusterSigner has it none are made',
      OWN_TLS_SIGNER,
    );
}
