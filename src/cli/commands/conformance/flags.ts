// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { KINDS } from '../../../conformance/case.ts';
import type { ConformanceOptions } from './run.ts';
import { durationFlag } from '../../../app/flag-values.ts';
import { addUserOptions } from '../../../app/user-client.ts';

const DEFAULT_TIMEOUT_SECONDS = 30;
const DEFAULT_QUIET_SECONDS = 5;

/** `countersign conformance`: what any signer is held to, tried on a cluster. */
export function addConformanceCommand(root: Command): void {
  const command = root
    .command('conformance')
    .description('hold a signer, anybody’s, to the API, the RFCs and Kubernetes’ own tests')
    .requiredOption(
      '--signer <name>',
      'signer name; of certificaterequest <Kind>.<group>/<name> of the issuer',
    )
    .addOption(
      new Option('--kind <kind>', 'what is requested').choices(KINDS).makeOptionMandatory(),
    )
    .option(
      '--profile <file>',
      'YAML: what is known of the signer (docs/how-to/check-any-signer.md)',
    )
    .option('--anchors <file>', 'PEM of the CAs to verify with (default: its ClusterTrustBundles)')
    .option('--namespace <name>', 'where pods and their requests go; it must exist', 'default')
    .option('--service-account <name>', 'whom the pods run as', 'default')
    .option(
      '--image <image>',
      'of the pods: any that runs until it is deleted',
      'registry.k8s.io/pause:3.10',
    )
    .addOption(
      new Option('-o, --output <format>', 'how the report is written')
        .choices(['text', 'json', 'junit'])
        .default('text'),
    )
    .addOption(
      new Option('--timeout <duration>', 'how long an answer is waited for')
        .argParser(durationFlag)
        .default(DEFAULT_TIMEOUT_SECONDS, '30s'),
    )
    .addOption(
      new Option(
        '--quiet <duration>',
        'how long what must be left alone is looked at, at the least',
      )
        .argParser(durationFlag)
        .default(DEFAULT_QUIET_SECONDS, '5s'),
    )
    .addHelpText(
      'after',
      '\nExit code: 0 conformant, 3 not conformant, 4 conformant but objects of the kit are left;\n1 when nothing could be asked.',
    );
  addUserOptions(command).action(async (options: ConformanceOptions) => {
    const { conformance } = await import('./run.ts');
    process.exitCode = await conformance(options);
  });
}
