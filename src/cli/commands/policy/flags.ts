// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { gather, secondsFlag } from '../../../app/flag-values.ts';
import type { PolicyTestOptions } from './test-certificate-request.ts';

/** `countersign policy test`: what the rules say of a request, without a cluster. */
export function addPolicyCommand(root: Command): void {
  const policy = root.command('policy').description('try the rules of a ClusterSigner or Signer');
  policy
    .command('test')
    .description('print the verdict of its rules on a request, without a cluster')
    .requiredOption('--signer-file <file>', 'YAML of the ClusterSigner or Signer')
    .requiredOption(
      '--csr <file>',
      'PEM of the PKCS#10 request, or YAML of a CertificateSigningRequest or CertificateRequest',
    )
    .option('--namespace <name>', 'it is a CertificateRequest of cert-manager in this namespace')
    .requiredOption('--user <name>', 'who asks')
    .option('--uid <uid>', 'the user’s UID', '')
    .option('--group <name>', 'a group of the user (repeatable)', gather, [])
    .option(
      '--usage <name>',
      'a requested usage (repeatable; default: client auth; with --namespace cert-manager’s: digital signature, key encipherment)',
      gather,
      [],
    )
    .option('--expiration-seconds <n>', 'spec.expirationSeconds', secondsFlag)
    .option('--reserved-prefix <prefix>', 'as the components’ flag (repeatable)', gather, [])
    .addHelpText(
      'after',
      '\nExit code: 0 approve, 3 deny, 4 no opinion; 1 when a file cannot be read.',
    )
    .action(async (options: PolicyTestOptions) => {
      const { testPolicy } = await import('./test.ts');
      process.exitCode = await testPolicy(options);
    });
}
