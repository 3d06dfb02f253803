// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { DEFAULT_SECRET_NAMESPACE } from '../../../api/signer/own-tls.ts';
import { addUserOptions } from '../../user-client.ts';
import type { AccountKeyOptions } from './account-key.ts';
import { REVOCATION_CODES } from '../../../api/acme/names.ts';
import type { PersistRecordOptions } from './persist-record.ts';
import type { RevokeOptions } from './revoke.ts';

const EXIT_CODES = `
Exit code: 0 the wish is noted; 1 an error; 3 refused, nothing was written.`;

/** Adds `countersign account-key`, `persist-record` and `revoke`: what people do about ACME signers, with their own permissions. */
export function addAcmeCommands(root: Command): void {
  const accountKey = root
    .command('account-key <signer>')
    .description('generate the account key of an ACME signer, and make the Secret that it names')
    .option('-n, --namespace <name>', 'namespace of an AcmeSigner (default: an AcmeClusterSigner)')
    .option(
      '--secret-namespace <name>',
      'namespace of the Secrets of AcmeClusterSigners',
      DEFAULT_SECRET_NAMESPACE,
    );
  addUserOptions(accountKey).action(async (name: string, options: AccountKeyOptions) => {
    const { runAccountKey } = await import('./account-key.ts');
    await runAccountKey(name, options);
  });
  const persistRecord = root
    .command('persist-record <signer> <name>')
    .description('print the DNS record by which dns-persist-01 proves a name to an ACME signer')
    .option('-n, --namespace <name>', 'namespace of an AcmeSigner (default: an AcmeClusterSigner)');
  addUserOptions(persistRecord).action(
    async (signer: string, name: string, options: PersistRecordOptions) => {
      const { runPersistRecord } = await import('./persist-record.ts');
      await runPersistRecord([signer, name], options);
    },
  );
  const revoke = root
    .command('revoke <order>')
    .description('have the certificate of an Order revoked by its CA: order/NAME')
    .requiredOption('-n, --namespace <name>', 'namespace of the Order')
    .addOption(
      new Option('--reason <reason>', 'why (RFC 5280 §5.3.1)')
        .choices(Object.keys(REVOCATION_CODES))
        .default('unspecified'),
    )
    .option('--force', 'also where the certificate is in use', false)
    .addHelpText('after', EXIT_CODES);
  addUserOptions(revoke).action(async (name: string, options: RevokeOptions) => {
    const { runRevoke } = await import('./revoke.ts');
    process.exitCode = await runRevoke(name, options);
  });
}
