// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { addFlags } from '#cli/component-flags.ts';
import { addScopeOptions, outputOption, selectorOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { RefreshPlanOptions } from './run.ts';
import { REFRESH_FLAGS } from '#workloads/refresh/flags.ts';

/** Adds `countersign refresh plan`, which lists workloads to restart, with times and reasons. */
export function addRefreshCommand(root: Command): void {
  const refresh = root
    .command('refresh')
    .description('restarts of workloads whose certificates have changed');
  const plan = refresh
    .command('plan')
    .description(
      'print workloads to restart for a certificate, with times and reasons; change nothing',
    )
    .addOption(selectorOption('workloads'))
    .addOption(outputOption(['name'], 'table'))
    .addHelpText(
      'after',
      '\nIt decides as pod-refresher does that is started now with the same flags, by the permissions of your kubeconfig.',
    );
  addFlags(addUserOptions(addScopeOptions(plan, 'workloads')), REFRESH_FLAGS).action(
    async (options: RefreshPlanOptions) => {
      const { printPlan } = await import('./run.ts');
      await printPlan(options);
    },
  );
}
