// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { daysFlag, serialFlag } from '#app/flag-values.ts';
import { addScopeOptions, outputOption } from '#cli/list-options.ts';
import { CERTIFICATE_SOURCES } from '#operations/report.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { IssuedOptions } from './run.ts';

const HELP = `
Examples:
  countersign issued --expires-in 24h                 what expires within a day, the first one first
  countersign issued --signer example.com/workload -n team-a
  countersign issued --pod team-a/web --source live
  countersign issued --san '*.shop.example'
  countersign issued --authority 1f3c9a20             who still has a certificate of this CA?
  countersign issued --expires-in 7d -o json

It reads the ledger if there is one, else it lists live requests, and prints which.

Exit codes:
  0  found                         3  nothing is found
  1  the API server refused        2  the command line is wrong`;

/** Adds `countersign issued`, which lists certificates with their holders and expiry. */
export function addIssuedCommand(root: Command): void {
  const command = root
    .command('issued')
    .description('list certificates with their holders, CAs and expiry')
    .option('--signer <name>', 'only of this signer name')
    .option('--pod <namespace/name>', 'only of this pod')
    .option('--user <name>', 'only of this user')
    .option('--san <name>', 'only with this name; *.example.com: all that end so')
    .option('--serial <hex>', 'only with this serial number', serialFlag)
    .option('--authority <fingerprint>', 'only of this CA: the first digits of its SHA-256')
    .option('--expires-in <duration>', 'only what expires within: 7d, 24h, 90m', daysFlag)
    .option('--expired', 'also what has expired', false)
    .addOption(
      new Option('--source <source>', 'source: the ledger, live objects, or the first available')
        .choices(CERTIFICATE_SOURCES)
        .default('auto'),
    )
    .addOption(outputOption(['wide', 'name'], 'table'))
    .addHelpText('before', HELP);
  addUserOptions(addScopeOptions(command, 'certificates')).action(
    async (options: IssuedOptions) => {
      const { issued } = await import('./run.ts');
      process.exitCode = await issued(options);
    },
  );
}
