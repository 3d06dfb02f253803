// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { DEFAULT_SECRET_NAMESPACE, OWN_TLS_SIGNER } from '../../../api/signer/own-tls.ts';
import { durationFlag } from '../../../app/flag-values.ts';
import { outputOption } from '../../list-options.ts';
import { addUserOptions } from '../../user-client.ts';
import type { CheckOptions } from './run.ts';

const HELP = `
Examples:
  countersign check --pre             before you install: is the cluster able, may you install?
  countersign check                   is the installation well?
  countersign check --wait 2m         after you install: until all is well, or for two minutes
  countersign check -o json           for programs; the ids of checks are stable
  countersign check --explain signers-ready

Exit codes:
  0  well, perhaps with warnings    3  a check failed
  1  the API server did not answer  2  the command line is wrong`;

/** Adds `countersign check`: is it well? */
export function addCheckCommand(root: Command): void {
  const command = root
    .command('check')
    .description('check that the cluster and the installation are well, and say what to do')
    .option('--pre', 'check the cluster before Countersign is installed', false)
    .option(
      '--wait <duration>',
      'check again until nothing fails, for at most this long',
      durationFlag,
    )
    .option('--explain <id>', 'print the page of a check instead: what it affects, what to do')
    .option('-n, --namespace <name>', 'namespace of the components', 'countersign-system')
    .option('--secret-namespace <name>', 'namespace of the CA Secrets', DEFAULT_SECRET_NAMESPACE)
    .option(
      '--serving-signer <name>',
      'signer name whose CA signs the certificates of the components’ own ports',
      OWN_TLS_SIGNER,
    )
    .addOption(outputOption())
    .addHelpText('before', HELP);
  addUserOptions(command).action(async (options: CheckOptions) => {
    const { check } = await import('./run.ts');
    process.exitCode = await check(options);
  });
}
