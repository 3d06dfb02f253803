// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { OWN_TLS_SIGNER } from '../../../api/signer/own-tls.ts';
import type { RbacOptions } from './run.ts';
import { gather } from '../../../app/flag-values.ts';

/** `countersign rbac`: roles and admission policies that spell out the user's own names. */
export function addRbacCommand(root: Command): void {
  root
    .command('rbac')
    .description('print the roles, bindings and admission policies for your own names')
    .option('--signer <name>', 'signer name (repeatable)', gather, [])
    .option(
      '--bundle <signer>:<name>',
      'ClusterTrustBundle that the attester publishes, such as example.com:workload:primary (repeatable)',
      gather,
      [],
    )
    .option('--secret <namespace>/<name>', 'Secret of a CA (repeatable)', gather, [])
    .option(
      '--namespaced-signers',
      'for components that serve the Signers of namespaces as well',
      false,
    )
    .option(
      '--signer-secret <namespace>/<name>',
      'Secret of a Signer, which lies beside it (repeatable)',
      gather,
      [],
    )
    .option('--namespace <name>', 'namespace of the components', 'countersign-system')
    .option(
      '--serving-signer <name>',
      'signer name whose CA signs the certificates of the components’ own ports',
      OWN_TLS_SIGNER,
    )
    .option('--output <directory>', 'write one file a component instead of printing')
    .option(
      '--who-may-request',
      'print also the policies by which each requester needs the verb request',
      false,
    )
    .addHelpText(
      'after',
      '\nName all of yours at once: it takes the place of what was applied before.\n--output writes all policies, who-may-request.yaml too: apply that one only if you mean it.',
    )
    .action(async (options: RbacOptions) => {
      const { writeRbac } = await import('./run.ts');
      await writeRbac(options);
    });
}
