// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';
import { FLEET_NAMESPACE } from '#api/signer/upstream-hub.ts';
import { durationFlag } from '#app/flag-values.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { JoinOptions } from './join.ts';
import type { LeaveOptions } from './leave.ts';
import type { ListOptions } from './list.ts';

/** Half of it passes before a member renews its token, so a hub may be down for 15 days. */
const MEMBER_TOKEN_SECONDS = 30 * 24 * 3_600;

const JOIN_HELP = `
Examples:
  countersign fleet join prod --signer fleet.example.com/members --member-signer example.com/workload --out prod.yaml

Run it with the kubeconfig of the hub. Apply the file on the member, and then delete it: it has a token.

It creates the account of the member on the hub, or restores it, and a new token. Repeat it for a member whose token expired.
Exit codes: 0 joined; 1 the API server or a file refused; 2 the command line is wrong`;

const LIST_HELP = `
Examples:
  countersign fleet list --signer fleet.example.com/members
  countersign fleet list --signer fleet.example.com/members -o json

Run it with the kubeconfig of the hub. It calls no member: each reports to the hub at each change and every hour.
Exit codes: 0 listed; 1 the API server refused; 2 the command line is wrong`;

const LEAVE_HELP = `
Examples:
  countersign fleet leave prod --signer fleet.example.com/members

Run it with the kubeconfig of the hub. It removes the account and its permissions. CAs that the hub signed stay valid until they end.
Exit codes: 0 left, or it was no member; 1 the API server refused; 2 the command line is wrong`;

/** Adds `countersign fleet join`, `list` and `leave`. */
export function addFleetCommands(root: Command): void {
  const fleet = root
    .command('fleet')
    .description('let other clusters join a hub or leave it, and list them');
  const join = placed(
    fleet
      .command('join <cluster>')
      .description('create the account of a member on the hub, and the Secret for the member'),
  )
    .requiredOption('--member-signer <name>', 'signer name on the member whose CA the hub signs')
    .requiredOption('--out <file>', 'file for the Secret; it must not exist')
    .option('--secret <name>', 'CA Secret of that signer (default: <path>-ca)')
    .option('--secret-namespace <name>', 'namespace of the CA Secret', DEFAULT_SECRET_NAMESPACE)
    .option('--server <url>', 'https://host:port of the hub (default: that of the kubeconfig)')
    .addOption(
      new Option('--token-duration <duration>', 'life of the token')
        .argParser(durationFlag)
        .default(MEMBER_TOKEN_SECONDS, '720h'),
    )
    .addHelpText('before', JOIN_HELP);
  addUserOptions(join).action(async (cluster: string, options: JoinOptions) => {
    const { runJoin } = await import('./join.ts');
    process.exitCode = await runJoin(cluster, options);
  });
  const list = placed(
    fleet
      .command('list')
      .description('list the members of a hub with their CA, anchors, last report and problem'),
  )
    .addOption(outputOption(['name']))
    .addHelpText('before', LIST_HELP);
  addUserOptions(list).action(async (options: ListOptions) => {
    const { runList } = await import('./list.ts');
    process.exitCode = await runList(options);
  });
  const leave = placed(
    fleet
      .command('leave <cluster>')
      .description('remove the account of a member from the hub, and print what stays valid'),
  ).addHelpText('before', LEAVE_HELP);
  addUserOptions(leave).action(async (cluster: string, options: LeaveOptions) => {
    const { runLeave } = await import('./leave.ts');
    process.exitCode = await runLeave(cluster, options);
  });
}

function placed(command: Command): Command {
  return command
    .requiredOption('--signer <name>', 'signer name of the hub, such as fleet.example.com/members')
    .option('--fleet-namespace <name>', 'namespace of the accounts of members', FLEET_NAMESPACE);
}
