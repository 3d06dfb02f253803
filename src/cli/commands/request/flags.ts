// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { KEY_TYPES } from '../../../vocabulary.ts';
import type { RequestOptions } from './run.ts';
import { durationFlag, gather } from '../../../app/flag-values.ts';
import { addUserOptions } from '../../../app/user-client.ts';

const DEFAULT_TIMEOUT_SECONDS = 600;

/** `countersign request`: a key, a request and, once it is signed, a certificate and a kubeconfig. */
export function addRequestCommand(root: Command): void {
  const command = root
    .command('request')
    .description('make a key here, ask a signer for a certificate, wait, and write a kubeconfig')
    .requiredOption('--signer <name>', 'signer name, such as example.com/people')
    .requiredOption('--name <name>', 'common name: the user that the certificate is for')
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
      new Option('--key-type <type>', 'key to make').choices(KEY_TYPES).default('ECDSAP256'),
    )
    .addOption(new Option('--expires <duration>', 'validity to ask for').argParser(durationFlag))
    .option('--out <directory>', 'where <name>.key, <name>.crt and <name>.kubeconfig go', '.')
    .option(
      '--csr-name <name>',
      'name of the CertificateSigningRequest (default: made from --name)',
    )
    .addOption(
      new Option('--timeout <duration>', 'how long to wait')
        .argParser(durationFlag)
        .default(DEFAULT_TIMEOUT_SECONDS, '10m'),
    );
  addUserOptions(command).action(async (options: RequestOptions) => {
    const { request } = await import('./run.ts');
    await request(options);
  });
}
