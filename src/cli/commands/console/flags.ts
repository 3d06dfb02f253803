// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { portFlag } from '#app/flag-values.ts';
import { addInstallationPlace, addUserOptions, propagationOption } from '#cli/user-options.ts';
import type { ConsoleOptions } from './run.ts';

const HELP = `
Examples:
  countersign console                        serve the pages on loopback, and open the browser
  countersign console --port 8090 --no-open  print the address only
  countersign console --context production
  countersign console --allow-changes        offer actions: approve, deny, prepare, activate, taint, revoke, restart

The pages show what your kubeconfig may read. Without --allow-changes they change nothing. Ctrl-C ends the console.

Exit codes:
  0  ended                          1  the kubeconfig is unusable
                                    2  the command line is wrong`;

/** Adds `countersign console`, which serves pages on loopback. */
export function addConsoleCommand(root: Command): void {
  const command = root
    .command('console')
    .description('show signers, requests, certificates and their expiry in the browser')
    .option('--port <number>', 'port on 127.0.0.1 (default: a free one)', portFlag)
    .option('--no-open', 'print the address without opening the browser')
    .option(
      '--allow-changes',
      'offer actions with your permissions; each shows its plan before you confirm it',
      false,
    );
  addInstallationPlace(command.addOption(propagationOption())).addHelpText('before', HELP);
  addUserOptions(command).action(async (options: ConsoleOptions) => {
    const { runConsole } = await import('./run.ts');
    await runConsole(options);
  });
}
