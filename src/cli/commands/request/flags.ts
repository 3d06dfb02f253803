// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { KEY_TYPES } from '#base/vocabulary.ts';
import type { RequestOptions } from './run.ts';
import { durationFlag, gather } from '#app/flag-values.ts';
import { PASSWORD_VARIABLE } from '#cli/pkcs12-password.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';

const DEFAULT_WAIT_SECONDS = 600;

const HELP = `
Examples:
  countersign request --signer example.com/people --name jane --group dev
  countersign request --signer example.com/web --name web --dns www.example.com --usage 'server auth'
  countersign request --signer example.com/people --name jane --pkcs12 jane.p12
  countersign request --signer example.com/people --name jane --renew       every 12 hours, by cron

With --renew it is safe to repeat: the files in --out and of --pkcs12 stay as they are until a new certificate is
there. Then it replaces all of them, also if one is absent or belongs to another certificate. Of the PKCS#12 file it
notices only the absence. A second run for the same files fails while the first writes them: <name>.lock stays for that.

Exit codes:
  0  the certificate is written, or not due yet  2  the command line is wrong; it was denied, failed or
  1  the API server or a file refused                took too long; another run writes the files`;

/** Adds `countersign request`, which creates a key and a request and, once signed, a kubeconfig. */
export function addRequestCommand(root: Command): void {
  const command = root
    .command('request')
    .description('generate a key, request a certificate, wait for it, and write a kubeconfig')
    .requiredOption('--signer <name>', 'signer name, such as example.com/people')
    .requiredOption('--name <name>', 'common name: the username of the certificate')
    .option('--group <name>', 'organization: a group of the user (repeatable)', gather, [])
    .option('--dns <name>', 'DNS name (repeatable)', gather, [])
    .option('--ip <address>', 'IP address (repeatable)', gather, [])
    .option('--uri <uri>', 'URI (repeatable)', gather, [])
    .option('--email <address>', 'email address (repeatable)', gather, [])
    .option(
      '--usage <name>',
      'usage (repeatable; default: digital signature, client auth)',
      gather,
      [],
    )
    .addOption(
      new Option('--key-type <type>', 'type of the key to generate')
        .choices(KEY_TYPES)
        .default('ECDSAP256'),
    )
    .addOption(new Option('--expires <duration>', 'validity to request').argParser(durationFlag))
    .option('--out <directory>', 'directory for <name>.key, <name>.crt and <name>.kubeconfig', '.')
    .option(
      '--pkcs12 <file>',
      'also write key and chain as PKCS#12, for browsers and Java; only --renew replaces it',
    )
    .option(
      '--pkcs12-password-file <file>',
      `file with its password (default: ${PASSWORD_VARIABLE}, else a prompt)`,
    )
    .option(
      '--csr-name <name>',
      'name of the CertificateSigningRequest (default: made from --name)',
    )
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for the certificate')
        .argParser(durationFlag)
        .default(DEFAULT_WAIT_SECONDS, '10m'),
    )
    .option(
      '--renew',
      'do nothing until the certificate has passed 66% of its life; then replace all files',
      false,
    )
    .addOption(outputOption(['name']))
    .addHelpText('before', HELP);
  addUserOptions(command).action(async (options: RequestOptions) => {
    const { request } = await import('./run.ts');
    await request(options);
  });
}
