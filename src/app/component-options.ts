// SPDX-License-Identifier: Apache-2.0
import { Option, type Command } from 'commander';
import { DEFAULT_PROPAGATION_SECONDS } from '../issuance/propagation-gate.ts';
import { durationFlag } from './flag-values.ts';
import { addLeaseOptions, type LeaseOptions } from './lease-options.ts';
import { LOG_FORMATS, LOG_LEVELS } from './log.ts';
import { DEFAULT_SECRET_NAMESPACE } from '../api/signer/own-tls.ts';

/** The flags that all components have. In a cluster none is needed. */
export interface ComponentOptions extends LeaseOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly secretNamespace: string;
  /** Of the components that have it: {@link addNamespacedOption}. */
  readonly namespacedSigners?: boolean;
  readonly listen: string;
  readonly listenHttps?: string;
  readonly servingCertificate: string;
  readonly logFormat: (typeof LOG_FORMATS)[number];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly reservedPrefix: readonly string[];
  readonly propagation: number;
}

/** Whether the process runs in a pod. */
export function isInCluster(environment: Environment): boolean {
  return environment['KUBERNETES_SERVICE_HOST'] !== undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** In a pod the probes come from the node; elsewhere nobody but this machine should ask. */
export function defaultListen(environment: Environment): string {
  return isInCluster(environment) ? '0.0.0.0:8080' : '127.0.0.1:8080';
}

/** Adds the flags of {@link ComponentOptions} to a subcommand. */
export function addComponentOptions(command: Command): Command {
  return addLeaseOptions(command)
    .option(
      '--kubeconfig <file>',
      'kubeconfig (default: KUBECONFIG, then ~/.kube/config, then in-cluster)',
    )
    .option('--context <name>', 'context of the kubeconfig')
    .option(
      '--secret-namespace <name>',
      'namespace of the CA Secrets; ClusterSigners with a Secret elsewhere are not served',
      DEFAULT_SECRET_NAMESPACE,
    )
    .option(
      '--listen <host:port>',
      '/healthz and /readyz, and without --listen-https /metrics',
      defaultListen(process.env),
    )
    .option('--listen-https <host:port>', 'the same over TLS, and /metrics only there')
    .option(
      '--serving-certificate <directory>',
      'tls.crt and tls.key of --listen-https; read again when they change',
      '/run/countersign/serving',
    )
    .addOption(
      new Option('--log-format <format>', 'log lines on stderr')
        .choices(LOG_FORMATS)
        .default('json'),
    )
    .addOption(new Option('--log-level <level>', 'least level').choices(LOG_LEVELS).default('info'))
    .option(
      '--reserved-prefix <prefix>',
      'refuse subjects with this prefix too, besides system: and kubeadm: (repeatable)',
      (value: string, before: readonly string[]) => [...before, value],
      [] as readonly string[],
    )
    .addOption(
      new Option(
        '--propagation <duration>',
        'how long an anchor added to a bundle must have been served before its CA signs',
      )
        .argParser(durationFlag)
        .default(DEFAULT_PROPAGATION_SECONDS, '10m'),
    );
}

/** Opts in to Signers of namespaces; the attester has no part in them. */
export function addNamespacedOption(command: Command): Command {
  return command.option(
    '--namespaced-signers',
    'serve the Signers of all namespaces as well; one installation of a cluster may',
  );
}
