// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions, propagationOption } from '#cli/user-options.ts';
import type { ExplainOptions } from './run.ts';

const HELP = `
Examples:
  countersign explain pod/web -n team-a          why does this pod not start?
  countersign explain deploy/web -n team-a       the same for the pods of a workload
  countersign explain csr/alice                  which rule is nearest, and what does it lack?
  countersign explain pcr/web-x7k2p -n team-a
  countersign explain certificaterequest/tls-1 -n team-a
  countersign explain signer/workload            why is it not Ready, what happens to its CA next?
  countersign explain order/tls-1-1 -n team-a    what does the ACME server wait for?
  countersign explain acmeclustersigner/public

Exit codes:
  0  issued, or Ready         3  denied, failed, rejected by verifiers, or not Ready
  4  it waits                 1  it cannot be read        2  the command line is wrong`;

/** Adds `countersign explain`, which explains why an object waits. */
export function addExplainCommand(root: Command): void {
  const command = root
    .command('explain <kind/name>')
    .description('explain why a pod, request, Order or signer waits, and what you can do')
    .option('-n, --namespace <name>', 'namespace of the object', 'default')
    .addOption(propagationOption())
    .addOption(outputOption())
    .addHelpText('before', HELP);
  addUserOptions(command).action(async (subject: string, options: ExplainOptions) => {
    const { explainSubject } = await import('./run.ts');
    process.exitCode = await explainSubject(subject, options);
  });
}
