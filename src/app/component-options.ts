// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_PROPAGATION_SECONDS } from '#ca/issuance/propagation-gate.ts';
import { durationFlag } from './flag-values.ts';
import type { SharedFlags } from '#component/host.ts';
import type { LedgerOptions } from './ledger/options.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from './log-settings.ts';
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';
import { DEFAULT_LEASE_SECONDS, MIN_LEASE_SECONDS, MAX_LEASE_SECONDS } from '#kube/lease/lease.ts';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The flags of every component. The defaults suit a cluster. */
export interface ComponentOptions extends SharedFlags, LeaseOptions, LedgerOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly secretNamespace: string;
  /** Set only for components with {@link addNamespacedOption}. */
  readonly namespacedSigners?: boolean;
  readonly listen: string;
  readonly listenHttps?: string;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
  readonly reservedPrefix: readonly string[];
  readonly propagation: number;
}

/** Reports whether the process runs in a pod. */
export function isInCluster(environment: Environment): boolean {
  return environment['KUBERNETES_SERVICE_HOST'] !== undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the default host of a port: '' for all addresses of both families. In a pod the node
 * sends probes to `status.podIP`, of either family. Elsewhere only this machine may connect.
 */
export function defaultHost(environment: Environment): string {
  return isInCluster(environment) ? '' : '127.0.0.1';
}

function defaultListen(environment: Environment): string {
  return `${defaultHost(environment)}:8080`;
}

/**
 * Adds the flags of {@link ComponentOptions} to a subcommand. Some defaults depend on the
 * environment.
 */
export function addComponentOptions(
  command: Command,
  environment: Environment = process.env,
): Command {
  return addLeaseOptions(command)
    .option(
      '--kubeconfig <file>',
      'kubeconfig (default: KUBECONFIG, then ~/.kube/config, then in-cluster)',
    )
    .option('--context <name>', 'context of the kubeconfig')
    .option(
      '--secret-namespace <name>',
      'namespace of the CA Secrets; ClusterSigners with a Secret in another namespace are not served',
      DEFAULT_SECRET_NAMESPACE,
    )
    .option(
      '--listen <host:port>',
      'address for /healthz and /readyz, and for /metrics unless --listen-https is set',
      defaultListen(environment),
    )
    .option(
      '--listen-https <host:port>',
      'address for the same endpoints over TLS; /metrics is served here only',
    )
    .option(
      '--serving-certificate <directory>',
      'directory with tls.crt and tls.key for --listen-https; reloaded when they change',
      '/run/countersign/serving',
    )
    .addOption(
      new Option('--log-format <format>', 'format of the log lines on stderr')
        .choices(LOG_FORMATS)
        .default('json'),
    )
    .addOption(
      new Option('--log-level <level>', 'lowest level to log').choices(LOG_LEVELS).default('info'),
    )
    .option<readonly string[]>(
      '--reserved-prefix <prefix>',
      'refuse subjects with this prefix, in addition to system: and kubeadm: (repeatable)',
      (value, before) => [...before, value],
      [],
    )
    .addOption(
      new Option(
        '--propagation <duration>',
        'how long an anchor must have been in the bundle before its CA signs',
      )
        .argParser(durationFlag)
        .default(DEFAULT_PROPAGATION_SECONDS, '10m'),
    );
}

/** Adds `--namespaced-signers`, for components with `servesNamespacedSigners`. */
export function addNamespacedOption(command: Command): Command {
  return command.option(
    '--namespaced-signers',
    'also serve the Signers of all namespaces; set it in one installation of a cluster only',
  );
}

/** The flags for Leases. */
export interface LeaseOptions {
  /** False with --no-leases. */
  readonly leases: boolean;
  readonly leaseNamespace?: string;
  /** Seconds. */
  readonly leaseDuration: number;
}

function addLeaseOptions(command: Command): Command {
  return command
    .option(
      '--lease-namespace <name>',
      'namespace of the Leases by which replicas share the work (default: the namespace of the pod; outside a pod, no Leases)',
    )
    .option('--no-leases', 'do not use Leases: this process does all the work')
    .addOption(
      new Option(
        '--lease-duration <duration>',
        'how long after its last renewal a Lease expires, so that other replicas take over',
      )
        .argParser(leaseSecondsFlag)
        .default(DEFAULT_LEASE_SECONDS, `${DEFAULT_LEASE_SECONDS}s`),
    );
}

/** @throws InvalidArgumentError */
function leaseSecondsFlag(text: string): number {
  const seconds = durationFlag(text);
  if (seconds >= MIN_LEASE_SECONDS && seconds <= MAX_LEASE_SECONDS) return seconds;
  throw new InvalidArgumentError(
    `must be from ${MIN_LEASE_SECONDS}s to ${MAX_LEASE_SECONDS / 60}m`,
  );
}

const OWN_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/**
 * Returns the namespace for Leases, or undefined for none. @param inCluster - the process runs in a
 * pod
 */
export function leaseNamespaceOf(
  options: LeaseOptions,
  inCluster: boolean,
  read: (file: string) => string = (file) => readFileSync(file, 'utf8'),
): string | undefined {
  if (!options.leases) return undefined;
  if (options.leaseNamespace !== undefined || !inCluster) return options.leaseNamespace;
  try {
    return read(OWN_NAMESPACE).trim();
  } catch {
    // A pod without a mounted ServiceAccount uses a kubeconfig, which does not reveal the
    // namespace.
    return undefined;
  }
}

/**
 * Returns the file that KUBECONFIG names, or its files if they are several, else ~/.kube/config.
 * Returns undefined if there is none. The connection reads and merges them itself, because the
 * official client drops `tokenFile`.
 */
export function kubeconfigFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): string | readonly string[] | undefined {
  const { KUBECONFIG = '', HOME = '' } = environment;
  const files = KUBECONFIG.split(delimiter).filter((each) => each !== '');
  const own = join(HOME, '.kube/config');
  if (files.length === 0) return HOME !== '' && existsSync(own) ? own : undefined;
  return files.length === 1 ? files[0] : files;
}
