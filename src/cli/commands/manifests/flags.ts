// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { gather } from '#app/flag-values.ts';
import type { ManifestsOptions } from './run.ts';

const HELP = `
Examples:
  countersign manifests --values values.yaml | kubectl apply -f -
  countersign manifests --values values.yaml --output mine

The values are those of the chart, and so are the objects: docs/reference/chart-values.md lists every value.
Use it in place of Helm, not beside it. What another print-out no longer has stays in the cluster.`;

/**
 * Adds `countersign manifests`, which prints the whole installation for values of the chart,
 * without Helm.
 */
export function addManifestsCommand(root: Command): void {
  root
    .command('manifests')
    .description('print every object of an installation, for the values of the chart, without Helm')
    .option(
      '--values <file>',
      'values as the chart takes them, - for stdin (repeatable: the last one wins)',
      gather,
      [],
    )
    .option('--output <directory>', 'write the files there instead of printing')
    .addHelpText('before', HELP)
    .action(async (options: ManifestsOptions) => {
      const { writeManifests } = await import('./run.ts');
      await writeManifests(options);
    });
}
