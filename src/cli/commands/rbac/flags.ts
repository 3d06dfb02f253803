// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { OWN_TLS_SIGNER } from '../../../api/signer/own-tls.ts';
import type { RbacOptions } from './run.ts';
import { gather } from '../../../app/flag-values.ts';

/** Adds `countersign rbac`: roles and admission policies for the user's own names. */
export function addRbacCommand(root: Command): void {
  root
    .command('rbac')
    .description('print the roles, bindings and admission policies for your own signer names')
    .option('--signer <name>', 'signer name (repeatable)', gather, [])
    .option(
      '--bundle <signer>:<name>',
      'ClusterTrustBundle that the attester publishes, such as example.com:workload:primary (repeatable)',
      gather,
      [],
    )
    .option('--secret <namespace>/<name>', 'Secret of a CA (repeatable)', gather, [])
    .option('--namespaced-signers', 'for components that also serve Signers in namespaces', false)
    .option(
      '--signer-secret <namespace>/<name>',
      'Secret of a Signer, in the namespace of the Signer (repeatable)',
      gather,
      [],
    )
    .option('--namespace <name>', 'namespace of the components', 'countersign-system')
    .option(
      '--serving-signer <name>',
      'signer name whose CA signs the certificates of the components’ own ports',
      OWN_TLS_SIGNER,
    )
    .option('--output <directory>', 'write one file for each component instead of printing')
    .option(
      '--who-may-request',
      'also print the policies that require the verb request of each requester',
      false,
    )
    .addHelpText(
      'after',
      '\nName all your signers, bundles and Secrets in one call: the output replaces what was applied before.\n--output also writes who-may-request.yaml, which is opt-in: apply it only to require the verb request.',
    )
    .action(async (options: RbacOptions) => {
      const { writeRbac } = await import('./run.ts');
      await writeRbac(options);
    });
}
