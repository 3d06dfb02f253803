// SPDX-License-Identifier: Apache-2.0
import type { Command } from 'commander';
import { gather, secondsFlag } from '#app/flag-values.ts';
import { usageError } from '#base/errors.ts';
import { addScopeOptions, outputOption } from '#cli/list-options.ts';
import { addUserOptions } from '#cli/user-options.ts';
import type { ReplayOptions } from './replay.ts';
import type { PolicyTestOptions } from './test-certificate-request.ts';

/** Values of the flags, for a request or a pod. */
interface PolicyTestFlags extends Omit<PolicyTestOptions, 'csr' | 'user'> {
  readonly pod?: string;
  readonly csr?: string;
  readonly user?: string;
}

/**
 * Adds `countersign policy test`, which evaluates the rules for a request without a cluster, and
 * `policy replay`.
 */
export function addPolicyCommand(root: Command): void {
  const policy = root
    .command('policy')
    .description('test the rules of a ClusterSigner, a Signer or an ACME signer');
  addReplay(policy);
  policy
    .command('test')
    .description('print the verdict of the rules on a request, without a cluster')
    .requiredOption(
      '--signer-file <file>',
      'YAML file with the ClusterSigner, Signer, ExternalClusterSigner or ACME signer',
    )
    .option(
      '--pod <file>',
      'test spec.pods: YAML with a Pod, or a workload that makes Pods, and the Services of its namespace',
    )
    .option(
      '--csr <file>',
      'file with the PKCS#10 request as PEM, or a CertificateSigningRequest or CertificateRequest as YAML',
    )
    .option(
      '-n, --namespace <name>',
      'test it as a CertificateRequest of cert-manager in this namespace; with --pod, the namespace of the pod',
    )
    .option('--user <name>', 'username of the requester; needed with --csr')
    .option('--uid <uid>', 'UID of the requester', '')
    .option('--group <name>', 'group of the requester (repeatable)', gather, [])
    .option(
      '--usage <name>',
      'requested usage (repeatable; default: client auth; with --namespace, as cert-manager: digital signature, key encipherment)',
      gather,
      [],
    )
    .option('--expiration-seconds <n>', 'spec.expirationSeconds', secondsFlag)
    .option(
      '--reserved-prefix <prefix>',
      'the value of --reserved-prefix that the components run with (repeatable)',
      gather,
      [],
    )
    .addOption(outputOption())
    .addHelpText('after', '\nExit code: 0 approve; 1 a file cannot be read; 3 deny; 4 no opinion.')
    .action(async ({ pod, csr, user, ...options }: PolicyTestFlags) => {
      if (pod !== undefined && csr === undefined) {
        const { testPod } = await import('./test-pod.ts');
        process.exitCode = await testPod({ ...options, pod });
        return;
      }
      if (pod !== undefined || csr === undefined || user === undefined) {
        const message = 'give --csr and --user, or --pod';
        throw usageError(message);
      }
      const { testPolicy } = await import('./test.ts');
      process.exitCode = await testPolicy({ ...options, csr, user });
    });
}

function addReplay(policy: Command): void {
  const replay = policy
    .command('replay')
    .description('print which requests of the ledger other rules would decide differently, and why')
    .requiredOption('--signer-file <file>', 'YAML file with the new ClusterSigner or Signer')
    .option('--since <time>', 'records since: 2026-11-22T13:30:00Z, or 30d, 24h, 90m ago', '30d')
    .option('--until <time>', 'records before: a time as in --since')
    .option('--records <file>', 'read what countersign ledger export has written, and no cluster')
    .option(
      '--reserved-prefix <prefix>',
      'the value of --reserved-prefix that the components run with (repeatable)',
      gather,
      [],
    )
    .addOption(outputOption())
    .addHelpText(
      'after',
      '\nExit code: 0 all as before; 1 an error; 3 some differently; 4 none differently, but some cannot be replayed.',
    );
  addUserOptions(addScopeOptions(replay, 'records')).action(async (options: ReplayOptions) => {
    const { runReplay } = await import('./replay.ts');
    process.exitCode = await runReplay(options);
  });
}
