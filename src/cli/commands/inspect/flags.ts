// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { gather, portFlag } from '#app/flag-values.ts';
import { PASSWORD_VARIABLE } from '#cli/pkcs12-password.ts';
import { outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { InspectOptions } from './run.ts';

const HELP = `
Examples:
  countersign inspect chain.pem                      every field, and who signed whom
  countersign inspect tls.crt tls.key                does the key belong to the certificate?
  countersign inspect https://example.com --short    what a server presents, one line each
  countersign inspect csr/alice                      the request, its certificate, which bundle trusts it
  countersign inspect pod/web -n team-a --port 8443  what is mounted, and what is really served
  countersign inspect secret/web-tls -n team-a -o json
  countersign inspect --diff old.pem new.pem
  cat store.p12 | countersign inspect - --password-file pw

It reads PEM, DER, PKCS#7 and PKCS#12: certificates, requests, CRLs and keys. A private key is never printed.

Exit codes:
  0  read                          3  --diff: something differs
  1  the API server refused        2  the command line is wrong, or a source cannot be read`;

/** Adds `countersign inspect`, which prints certificates from any source. */
export function addInspectCommand(root: Command): void {
  const command = root
    .command('inspect <source...>')
    .description('print certificates, requests, CRLs and keys from files, servers and objects')
    .option('-n, --namespace <name>', 'namespace of objects', 'default')
    .option('--short', 'one line for each', false)
    .option('--diff', 'compare two: the first of each', false)
    .option(
      '--bundle <source>',
      'check whether these anchors trust it: a file, ctb/NAME, configmap/NAME (repeatable)',
      gather,
      [],
    )
    .option('--cluster-bundles', 'list the ClusterTrustBundles that trust it, for files too', false)
    .option(
      '--port <number>',
      'pod/NAME: also read the certificate that this port of the pod serves',
      portFlag,
    )
    .option('--server-name <name>', 'server name to request (SNI; default: the host of the URL)')
    .option(
      '--password-file <file>',
      `file with the password of PKCS#12 (default: ${PASSWORD_VARIABLE}, else a prompt)`,
    )
    .addOption(outputOption(['pem']))
    .addHelpText('before', HELP);
  addUserOptions(command).action(async (sources: string[], options: InspectOptions) => {
    const { inspect } = await import('./run.ts');
    process.exitCode = await inspect(sources, options);
  });
}
