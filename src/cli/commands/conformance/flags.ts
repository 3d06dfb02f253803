// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { KINDS } from '#conformance/case.ts';
import type { ConformanceOptions } from './run.ts';
import { durationFlag } from '#app/flag-values.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';

const DEFAULT_ANSWER_SECONDS = 30;
const DEFAULT_QUIET_SECONDS = 5;

/** Adds `countersign conformance`: tests any signer on a cluster. */
export function addConformanceCommand(root: Command): void {
  const command = root
    .command('conformance')
    .description('test any signer against the Kubernetes API, the RFCs and Kubernetes’ own tests')
    .requiredOption(
      '--signer <name>',
      'signer name; for --kind certificaterequest the issuer: <Kind>.<group>/<name>',
    )
    .addOption(
      new Option('--kind <kind>', 'kind of request to test').choices(KINDS).makeOptionMandatory(),
    )
    .option('--profile <file>', 'YAML that describes the signer (docs/how-to/check-any-signer.md)')
    .option(
      '--anchors <file>',
      'PEM of the trust anchors to verify with (default: the signer’s ClusterTrustBundles)',
    )
    .option(
      '-n, --namespace <name>',
      'namespace for the pods and requests of the test; it must exist',
      'default',
    )
    .option('--service-account <name>', 'ServiceAccount of the pods', 'default')
    .option(
      '--image <image>',
      'image of the pods: any that runs until it is deleted',
      'registry.k8s.io/pause:3.10',
    )
    .addOption(outputOption(['junit']))
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for an answer')
        .argParser(durationFlag)
        .default(DEFAULT_ANSWER_SECONDS, '30s'),
    )
    .addOption(
      new Option(
        '--quiet <duration>',
        'how long to watch a request that the signer must leave untouched',
      )
        .argParser(durationFlag)
        .default(DEFAULT_QUIET_SECONDS, '5s'),
    )
    .addHelpText(
      'after',
      '\nExit code: 0 conformant; 1 the tests could not run; 3 not conformant; 4 conformant, but objects of\nthe test are left.',
    );
  addUserOptions(command).action(async (options: ConformanceOptions) => {
    const { conformance } = await import('./run.ts');
    process.exitCode = await conformance(options);
  });
}
