// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { REVOCATION_CODES } from '#api/acme/names.ts';
import { fingerprintFlag, gather } from '#app/flag-values.ts';
import { CERTIFICATE_SOURCES } from '#operations/report.ts';
import { outputOption } from '#cli/list-options.ts';
import { REVOCATION_REASONS } from '#base/vocabulary.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { RevokeCertificatesOptions } from './run.ts';

const HELP = `
Examples:
  countersign revoke --pod team-a/web-0 --reason keyCompromise --dry-run
  countersign revoke --user alice --reason cessationOfOperation
  countersign revoke --serial 5f0c9e3b7a1d4c6e8f2a --signer example.com/workload --reason keyCompromise
  countersign revoke csr/jane --reason keyCompromise                 # the certificate of a request
  countersign revoke order/www-1-1 -n web --reason keyCompromise     # of an ACME server

It prints the plan and then writes Revocations. It takes the verb revoke on the signer, and create on revocations.
The API server reads no CRL: a revoked client certificate works there until it expires (docs/how-to/revoke.md).
A signer without spec.profile.crl has no CRL: without --without-crl, nothing is written.
Exit code: 0 written, or noted; 1 an error; 2 the command line is wrong; 3 refused, nothing was written.`;

/**
 * Adds `countersign revoke`, which revokes certificates of Countersign's CAs by a Revocation, and
 * those of ACME by their Order.
 */
export function addRevokeCommand(root: Command): void {
  const reasons = [
    ...new Set([...Object.keys(REVOCATION_REASONS), ...Object.keys(REVOCATION_CODES)]),
  ];
  const revoke = root
    .command('revoke [object]')
    .description(
      'revoke certificates by flags, or by pod/, csr/, pcr/, certificaterequest/ or order/NAME',
    )
    .option('--serial <digits>', 'by the serial number (repeatable)', gather, [])
    .option('--pod <namespace/name>', 'all that a pod has')
    .option('--user <name>', 'all that a user requested')
    .option('--ca <fingerprint>', 'all of one CA: SHA-256 of its certificate', fingerprintFlag)
    .option('--san <name>', 'all with this common name, DNS name, address, URI or email address')
    .option('--signer <name>', 'only of this signer name')
    .addOption(
      new Option('--reason <reason>', 'why (RFC 5280 §5.3.1)')
        .choices(reasons)
        .default('unspecified'),
    )
    .addOption(
      new Option(
        '--source <source>',
        'where certificates are looked up: in live objects and in the ledger where one is installed, or in one of them',
      )
        .choices(CERTIFICATE_SOURCES)
        .default('auto'),
    )
    .option('--allow-renewal', 'let their holders get new certificates', false)
    .option(
      '--without-crl',
      'also for signers without spec.profile.crl: it takes effect once they have one',
      false,
    )
    .option(
      '--dry-run',
      'print the plan and write nothing (reads a ledger only by its aggregated API)',
      false,
    )
    .addOption(outputOption(['name']))
    .option('-n, --namespace <name>', 'namespace of the object')
    .option('--force', 'an Order: also where its certificate is in use', false)
    .addHelpText('before', HELP);
  addUserOptions(revoke).action(
    async (object: string | undefined, options: RevokeCertificatesOptions) => {
      const { runRevokeCommand } = await import('./run.ts');
      process.exitCode = await runRevokeCommand(object, options);
    },
  );
}
