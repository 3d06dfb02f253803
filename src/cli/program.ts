// SPDX-License-Identifier: Apache-2.0
/** The table of commands: a subcommand for each component, and the commands for users. */
import { basename } from 'node:path';
import { Command } from 'commander';
import { addAcmeCommands } from './commands/acme/flags.ts';
import { addApproveCommands } from './commands/approve/flags.ts';
import { addAuthorityVerbs } from './commands/authority/flags.ts';
import { addCeremonyCommands } from './commands/ceremony/flags.ts';
import { addCheckCommand } from './commands/check/flags.ts';
import { addCompletionCommands } from './commands/completion/flags.ts';
import { addConsoleCommand } from './commands/console/flags.ts';
import { addConformanceCommand } from './commands/conformance/flags.ts';
import {
  addComponentOptions,
  addNamespacedOption,
  type ComponentOptions,
} from '#app/component-options.ts';
import { addLedgerAddressOptions, addLedgerOptions } from '#app/ledger/options.ts';
import { PROCESSES } from '#install/component-list.ts';
import { addFlags } from './component-flags.ts';
import { addKeyHolderCommand } from './commands/key-holder/flags.ts';
import { addLedgerVerbs } from './commands/ledger/flags.ts';
import { addCertManagerOperatorVerbs, addOperatorVerbs } from './commands/operator/flags.ts';
import { addInspectCommand } from './commands/inspect/flags.ts';
import { addInstallCommands } from './commands/install/flags.ts';
import { addIssuedCommand } from './commands/issued/flags.ts';
import { addLintCommand } from './commands/lint/flags.ts';
import { addNeedsRenewalCommand } from './commands/needs-renewal/flags.ts';
import { addExplainCommand } from './commands/explain/flags.ts';
import { addFleetCommands } from './commands/fleet/flags.ts';
import { addManifestsCommand } from './commands/manifests/flags.ts';
import { addPolicyCommand } from './commands/policy/flags.ts';
import { addRbacCommand } from './commands/rbac/flags.ts';
import { addRefreshCommand } from './commands/refresh/flags.ts';
import { addRequestCommand } from './commands/request/flags.ts';
import { addRevokeCommand } from './commands/revoke/flags.ts';
import { VERSION } from '#app/version.ts';
import { applyGroups } from './conventions/groups.ts';
import { HELP_STYLE, applyConventions } from './conventions/conventions.ts';
import { applyUsageErrors, EXIT_USAGE } from './conventions/usage-errors.ts';

type ProcessName = (typeof PROCESSES)[number]['name'];

/** The commands for users below those of components. */
const VERBS: Partial<Record<ProcessName, (command: Command) => unknown>> = {
  ledger: addLedgerVerbs,
  authority: addAuthorityVerbs,
  operator: addOperatorVerbs,
  'cert-manager-operator': addCertManagerOperatorVerbs,
};

/** Adds commands to the root: their names, and the function that adds them. */
type Row = readonly [names: readonly string[], add: (root: Command) => unknown];

/** The commands for users. */
const COMMANDS: readonly Row[] = [
  [['check'], addCheckCommand],
  [['console'], addConsoleCommand],
  [['explain'], addExplainCommand],
  [['inspect'], addInspectCommand],
  [['install', 'uninstall', 'images'], addInstallCommands],
  [['issued'], addIssuedCommand],
  [['lint'], addLintCommand],
  [['needs-renewal'], addNeedsRenewalCommand],
  [['approve', 'deny'], addApproveCommands],
  [['request'], addRequestCommand],
  [['account-key', 'persist-record'], addAcmeCommands],
  [['ceremony'], addCeremonyCommands],
  [['fleet'], addFleetCommands],
  [['key-holder'], addKeyHolderCommand],
  [['policy'], addPolicyCommand],
  [['conformance'], addConformanceCommand],
  [['rbac'], addRbacCommand],
  [['manifests'], addManifestsCommand],
  [['refresh'], addRefreshCommand],
  [['revoke'], addRevokeCommand],
];

/** Adds a component's own command. */
function addComponentCommand(root: Command, descriptor: (typeof PROCESSES)[number]): void {
  const { name, summary, flags = [], records, readsRecords, servesNamespacedSigners } = descriptor;
  const command = root.command(name).description(summary);
  addComponentOptions(command).action(async (options: ComponentOptions) => {
    const [code, { createHost }] = await Promise.all([descriptor.load(), import('#app/host.ts')]);
    await code.run(createHost(descriptor, options));
  });
  if (servesNamespacedSigners === true) addNamespacedOption(command);
  if (records === true) addLedgerOptions(command);
  else if (readsRecords === true) addLedgerAddressOptions(command);
  addFlags(command, flags);
  VERBS[name]?.(command);
}

/** Each component's row, and those of users. */
const ROWS: readonly Row[] = [
  ...PROCESSES.map((each): Row => [[each.name], (root) => addComponentCommand(root, each)]),
  ...COMMANDS,
];

/**
 * Returns the commands.
 *
 * @param script - path of the program. kubectl runs it as `kubectl countersign`.
 * @param exit - ends the process after help or a wrong command line
 * @param word - first word of the command line. If it names a command, only its row is built, which
 *   saves the time for the options of all others. Otherwise all are, as for help and completion.
 */
export function program(script: string, exit: (code: number) => never, word?: string): Command {
  const isPlugin = basename(script).startsWith('kubectl-');
  const root = new Command(isPlugin ? 'kubectl countersign' : 'countersign')
    .description(
      'Certificates from your own CA inside Kubernetes: the signer for your own signer names.',
    )
    .version(VERSION)
    // Flags after a command belong to that command: authority and its verbs share some.
    .enablePositionalOptions()
    .configureHelp(HELP_STYLE)
    // Commands use exit code 1 otherwise, so replace commander's.
    .exitOverride(({ exitCode }) => exit(exitCode === 0 ? 0 : EXIT_USAGE));
  const named = ROWS.filter(([names]) => word !== undefined && names.includes(word));
  for (const [, add] of named.length === 0 ? ROWS : named) add(root);
  // It reads all other commands.
  if (named.length === 0) addCompletionCommands(root);
  applyGroups(root);
  applyConventions(root);
  applyUsageErrors(root);
  return root;
}
