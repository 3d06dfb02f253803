// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { addImageOptions } from '../../../app/component-options.ts';
import { DEFAULT_SECRET_NAMESPACE } from '../../../api/signer/own-tls.ts';
import { addUserOptions } from '../../user-client.ts';
import type { PlanOptions } from './plan.ts';

/** Adds `countersign operator plan`. `countersign operator` alone runs the component. */
export function addOperatorVerbs(operator: Command): void {
  // Flags before the verb are the component's.
  operator.enablePositionalOptions();
  const plan = operator
    .command('plan')
    .description('print what the operator would change, and change nothing')
    .option('-f, --file <file>', 'a Countersign in a file, in place of the one in the cluster')
    .option('--namespace <name>', 'namespace of the components', 'countersign-system')
    .option('--secret-namespace <name>', 'namespace of the CA Secrets', DEFAULT_SECRET_NAMESPACE);
  addUserOptions(addImageOptions(plan)).action(async (options: PlanOptions) => {
    const { runPlan } = await import('./plan.ts');
    process.exitCode = await runPlan(options);
  });
}
