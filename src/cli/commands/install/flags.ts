// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { gather } from '#app/flag-values.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { ImagesOptions } from './images.ts';
import type { InstallOptions } from './run.ts';
import type { UninstallOptions } from './uninstall.ts';

const INSTALL_HELP = `
Examples:
  countersign check --pre                                   is the cluster able, may you install?
  countersign install --values values.yaml --dry-run=server what would change
  countersign install --values values.yaml
  countersign install --dry-run > countersign.yaml          only print it

The values and the objects are those of the chart (docs/reference/chart-values.md), applied by server-side apply. Use it in
place of Helm and of the operator, not beside them: it refuses, and prints the command that hands the installation over.

Exit codes:
  0  installed                     2  the command line or the values are wrong, or there is a conflict
  1  the API server refused`;

const UNINSTALL_HELP = `
Examples:
  countersign uninstall --dry-run
  countersign uninstall

It deletes the objects of countersign install, whatever its values were, and the Leases. It also deletes the objects
that kubectl applied beside them from the output of countersign rbac. These stay: definitions with all signers and
Revocations, namespaces, Secrets with the keys of CAs and accounts, the volume and the key of the ledger, CRLs, and
ClusterTrustBundles. Certificates stay valid, and a new installation uses what it finds. After helm uninstall, or without
the Countersign object, it deletes only Leases.

It lists what stays and what that affects, such as verifiers that fetch CRLs. It prints the commands that remove that for
good, and sets Ready=False on the signers that no component serves any longer.

Exit codes:
  0  done                          1  the API server refused
                                   2  the command line is wrong`;

const IMAGES_HELP = `
Examples:
  countersign images
  countersign images --values values.yaml
  countersign images | xargs -n1 -I{} skopeo copy docker://{} docker://registry.internal/{}

Exit codes:
  0  printed                       2  the command line or the values are wrong`;

/** Adds `countersign install`, `uninstall` and `images`. */
export function addInstallCommands(root: Command): void {
  const install = root
    .command('install')
    .description('install Countersign without Helm: apply what countersign manifests prints')
    .addOption(valuesOption())
    .addOption(
      new Option('--dry-run [how]', 'client: print the objects; server: print what would change')
        .choices(['none', 'client', 'server'])
        .preset('client')
        .default('none'),
    )
    .option('--force-conflicts', 'take over fields that others manage', false)
    .addOption(outputOption(['name']))
    .addHelpText('before', INSTALL_HELP);
  addUserOptions(install).action(async (options: InstallOptions) => {
    const run = await import('./run.ts');
    process.exitCode = await run.install(options);
  });
  const uninstall = root
    .command('uninstall')
    .description(
      'delete what countersign install has made, and list what stays: keys, records and trust',
    )
    .option('--dry-run', 'print what would be deleted', false)
    .addOption(outputOption(['name']))
    .addHelpText('before', UNINSTALL_HELP);
  addUserOptions(uninstall).action(async (options: UninstallOptions) => {
    const run = await import('./uninstall.ts');
    process.exitCode = await run.uninstall(options);
  });
  root
    .command('images')
    .description('print the container images of an installation, for clusters without Internet')
    .addOption(valuesOption())
    .addOption(outputOption(['name']))
    .addHelpText('before', IMAGES_HELP)
    .action(async (options: ImagesOptions) => {
      const run = await import('./images.ts');
      await run.images(options);
    });
}

function valuesOption(): Option {
  return new Option('--values <file>', 'values as the chart takes them, - for stdin (repeatable)')
    .argParser(gather)
    .default([], 'none');
}
