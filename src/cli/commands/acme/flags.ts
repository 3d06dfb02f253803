// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { AccountKeyOptions } from './account-key.ts';
import type { PersistRecordOptions } from './persist-record.ts';

/**
 * Adds `countersign account-key` and `persist-record`, which users run for ACME signers with their
 * own permissions.
 */
export function addAcmeCommands(root: Command): void {
  const accountKey = root
    .command('account-key <signer>')
    .description('generate the account key of an ACME signer, and make the Secret that it names')
    .option('-n, --namespace <name>', 'namespace of an AcmeSigner (default: an AcmeClusterSigner)')
    .option(
      '--secret-namespace <name>',
      'namespace of the Secrets of AcmeClusterSigners',
      DEFAULT_SECRET_NAMESPACE,
    )
    .addOption(outputOption(['name']));
  addUserOptions(accountKey).action(async (name: string, options: AccountKeyOptions) => {
    const { runAccountKey } = await import('./account-key.ts');
    await runAccountKey(name, options);
  });
  const persistRecord = root
    .command('persist-record <signer> <name>')
    .description('print the DNS record by which dns-persist-01 proves a name to an ACME signer')
    .option('-n, --namespace <name>', 'namespace of an AcmeSigner (default: an AcmeClusterSigner)')
    .addOption(outputOption());
  addUserOptions(persistRecord).action(
    async (signer: string, name: string, options: PersistRecordOptions) => {
      const { runPersistRecord } = await import('./persist-record.ts');
      await runPersistRecord([signer, name], options);
    },
  );
}
