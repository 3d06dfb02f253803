// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { CERT_MANAGER_NAMESPACE } from '#api/operator/cert-manager-deployment.ts';
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';
import { addFlags } from '#cli/component-flags.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import { CERT_MANAGER_OPERATOR_FLAGS } from '#install/cert-manager-operator/flags.ts';
import { OPERATOR_FLAGS } from '#install/operator/flags.ts';
import type { PlanOptions } from './plan.ts';
import type { CertManagerPlanOptions } from './plan-cert-manager.ts';
import type { ReleaseMapOptions } from './release-map.ts';

/** Adds `countersign operator plan`. `countersign operator` alone runs the component. */
export function addOperatorVerbs(operator: Command): void {
  // Flags before the verb belong to the component.
  operator.enablePositionalOptions();
  const plan = operator
    .command('plan')
    .description('print what the operator would change, and change nothing')
    .option('-f, --file <file>', 'a Countersign in a file, in place of the one in the cluster')
    .option('-n, --namespace <name>', 'namespace of the components', 'countersign-system')
    .option('--secret-namespace <name>', 'namespace of the CA Secrets', DEFAULT_SECRET_NAMESPACE)
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nWhere an operator is installed, its flags count for those that you leave out: the image is the one that it would choose.',
    );
  addUserOptions(addFlags(plan, OPERATOR_FLAGS)).action(async (options: PlanOptions) => {
    const { runPlan } = await import('./plan.ts');
    const given = Object.keys(options).filter((each) => plan.getOptionValueSource(each) === 'cli');
    process.exitCode = await runPlan(options, new Set(given));
  });
}

/** Adds `countersign cert-manager-operator plan` and `release`. */
export function addCertManagerOperatorVerbs(operator: Command): void {
  operator.enablePositionalOptions();
  const plan = operator
    .command('plan')
    .description('print what the operator of cert-manager would change, and change nothing')
    .option(
      '-f, --file <file>',
      'a CertManagerDeployment in a file, in place of the one in the cluster',
    )
    .option(
      '--release <file>',
      'cert-manager.yaml.gz of the release, in place of the ConfigMap in the cluster',
    )
    .option(
      '-n, --namespace <name>',
      'namespace of the operator and of the ConfigMap',
      CERT_MANAGER_NAMESPACE,
    )
    .addOption(outputOption());
  addFlags(plan, CERT_MANAGER_OPERATOR_FLAGS);
  addUserOptions(plan).action(async (options: CertManagerPlanOptions) => {
    const { runCertManagerPlan } = await import('./plan-cert-manager.ts');
    process.exitCode = await runCertManagerPlan(options);
  });
  const release = operator
    .command('release <file>')
    .description('print the ConfigMap that hands the published cert-manager.yaml to the operator')
    .option('-n, --namespace <name>', 'namespace of the operator', CERT_MANAGER_NAMESPACE)
    .addHelpText(
      'after',
      '\nReads stdin if the file is -. A file that differs from the release that it names is rejected, with the objects that differ.',
    );
  addFlags(release, CERT_MANAGER_OPERATOR_FLAGS).action(
    async (file: string, options: ReleaseMapOptions) => {
      const { runReleaseMap } = await import('./release-map.ts');
      process.exitCode = await runReleaseMap(file, options);
    },
  );
}
