// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { addRefreshOptions } from '../../refresh-options.ts';
import { addScopeOptions, outputOption, selectorOption } from '../../list-options.ts';
import { addUserOptions } from '../../user-client.ts';
import type { RefreshPlanOptions } from './run.ts';

/** Adds `countersign refresh plan`: who would be restarted, when, and why. */
export function addRefreshCommand(root: Command): void {
  const refresh = root
    .command('refresh')
    .description('restarts of workloads whose certificates have changed');
  const plan = refresh
    .command('plan')
    .description('print who would be restarted for a certificate, when, and why; changes nothing')
    .addOption(selectorOption('workloads'))
    .addOption(outputOption(['name'], 'table'))
    .addHelpText(
      'after',
      '\nIt decides as pod-refresher does that is started now with the same flags, by the permissions of your kubeconfig.',
    );
  addRefreshOptions(addUserOptions(addScopeOptions(plan, 'workloads'))).action(
    async (options: RefreshPlanOptions) => {
      const { printPlan } = await import('./run.ts');
      await printPlan(options);
    },
  );
}
