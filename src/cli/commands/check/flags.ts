// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { durationFlag } from '#app/flag-values.ts';
import { outputOption } from '#cli/list-options.ts';
import { addInstallationPlace, addUserOptions, propagationOption } from '#cli/user-options.ts';
import type { CheckOptions } from './run.ts';

const HELP = `
Examples:
  countersign check --pre             before you install: the cluster, and your permissions
  countersign check                   the cluster and the installation
  countersign check --wait 2m         after you install: until all is well, or for two minutes
  countersign check --fail-on warning for scripts: warnings fail, too
  countersign check -o json           for programs; the ids of checks are stable
  countersign check --explain signers-ready

--wait ends at once if all that fails is final: a denied or failed request of a pod without a
controller, or a failed Order.

Exit codes:
  0  well, perhaps with warnings    3  a check failed, or warns with --fail-on warning
  1  the API server did not answer  2  the command line is wrong`;

/** Adds `countersign check`, which checks the cluster and the installation. */
export function addCheckCommand(root: Command): void {
  const command = root
    .command('check')
    .description('check the cluster and the installation, and print fixes')
    .option('--pre', 'check the cluster before Countersign is installed', false)
    .option(
      '--wait <duration>',
      'check again while a failure may still pass, for at most this long',
      durationFlag,
    )
    .option('--explain <id>', 'print the page of a check instead: its impact and its remedy')
    .addOption(
      new Option(
        '--fail-on <severity>',
        'the least severity that makes the exit code 3, and that --wait waits for',
      )
        .choices(['warning', 'error'])
        .default('error'),
    );
  addInstallationPlace(command.addOption(propagationOption()))
    .addOption(outputOption())
    .addHelpText('before', HELP);
  addUserOptions(command).action(async (options: CheckOptions) => {
    const { check } = await import('./run.ts');
    process.exitCode = await check(options);
  });
}
