// SPDX-License-Identifier: Apache-2.0
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_PROPAGATION_SECONDS } from '../issuance/propagation-gate.ts';
import { durationFlag, gather } from './flag-values.ts';
import type { LedgerOptions } from './ledger/options.ts';
import { LOG_FORMATS, LOG_LEVELS } from './log.ts';
import { DEFAULT_SECRET_NAMESPACE, OWN_TLS_SIGNER } from '../api/signer/own-tls.ts';
import {
  DEFAULT_LEASE_SECONDS,
  MIN_LEASE_SECONDS,
  MAX_LEASE_SECONDS,
} from '../kube/lease/lease.ts';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The flags of every component. In a cluster the defaults apply. */
export interface ComponentOptions extends LeaseOptions, LedgerOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly secretNamespace: string;
  /** Only for components with {@link addNamespacedOption}. */
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

/** In a pod the probes come from the node; elsewhere only this machine should connect. */
function defaultListen(environment: Environment): string {
  return isInCluster(environment) ? '0.0.0.0:8080' : '127.0.0.1:8080';
}

/** Adds the flags of {@link ComponentOptions} to a subcommand; some defaults depend on the environment. */
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
    .option(
      '--reserved-prefix <prefix>',
      'refuse subjects with this prefix, in addition to system: and kubeadm: (repeatable)',
      (value: string, before: readonly string[]) => [...before, value],
      [] as readonly string[],
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

/** Adds `--namespaced-signers`, for every component but the attester. */
export function addNamespacedOption(command: Command): Command {
  return command.option(
    '--namespaced-signers',
    'also serve the Signers of all namespaces; set it in one installation of a cluster only',
  );
}

/** The flags about Leases. */
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

/** Where Leases are taken; undefined: nowhere. @param inCluster - the process runs in a pod */
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
    // A pod without a ServiceAccount's mount has a kubeconfig, and its own ideas.
    return undefined;
  }
}

/** What the administrator decides, and the writer of a Countersign does not. */
export interface OperatorFlags {
  /** A repository. */
  readonly image: string;
  readonly allowImage: readonly string[];
  readonly allowDangerZone: boolean;
}

/** What the administrator decides, and the writer of a CertManagerDeployment does not. */
export interface CertManagerOperatorFlags {
  /** Version → SHA-256. */
  readonly allowRelease: Readonly<Record<string, string>>;
  readonly allowDangerZone: boolean;
}

/** The flags of the component `cert-manager-operator`. */
export interface CertManagerOperatorOptions extends ComponentOptions, CertManagerOperatorFlags {}

/** Adds `--allow-release`, which the component and `countersign rbac` have. */
export function addReleaseOption(command: Command): Command {
  return command.option(
    '--allow-release <version>=<sha256>',
    'another release of cert-manager that may be installed, by the sum that a refusal names (repeatable); whoever chooses it is cluster-admin',
    gatherRelease,
    {},
  );
}

/** @throws InvalidArgumentError */
function gatherRelease(
  text: string,
  before: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const [, version, sum] = /^(\d{1,9}\.\d{1,9}\.\d{1,9})=([0-9a-f]{64})$/.exec(text) ?? [];
  if (version !== undefined && sum !== undefined) return { ...before, [version]: sum };
  throw new InvalidArgumentError('write <version>=<64 hexadecimal digits>, such as 1.21.3=0f…');
}

/** The flags of the component `operator`. */
export interface OperatorComponentOptions extends ComponentOptions, OperatorFlags {}

const DANGER_ZONE = [
  '--allow-danger-zone',
  'allow spec.dangerZone: flags that a version does not know',
  false,
] as const;

/** Adds those of {@link OperatorFlags}. */
export function addImageOptions(command: Command): Command {
  return command
    .option('--image <repository>', 'image of the components, without a tag', 'countersign')
    .option(
      '--allow-image <repository>',
      'another repository that spec.image.reference may name (repeatable); whoever chooses the image reads CA keys',
      gather,
      [],
    )
    .option(...DANGER_ZONE);
}

/** Adds the flags of {@link CertManagerOperatorFlags}. */
export function addCertManagerOptions(command: Command): Command {
  return addReleaseOption(command).option(...DANGER_ZONE);
}

/** The flags of the component `authority`, which issues the certificates of all our ports. */
export interface AuthorityComponentOptions extends ComponentOptions {
  readonly servingNamespace?: string;
  readonly servingSigner?: string;
  readonly acmeAccountKeys: boolean;
  /** Seconds. */
  readonly targetDeadline: number;
}

/** Three times the default of --propagation: long enough for a person to look. */
const TARGET_DEADLINE_SECONDS = 1_800;

/** Adds those of {@link AuthorityComponentOptions} that the other components do not have. */
export function addOwnTlsOptions(command: Command): Command {
  return command
    .option(
      '--serving-namespace <name>',
      'namespace of the components, for their serving certificates (default: the namespace of the Leases)',
    )
    .option(
      '--serving-signer <name>',
      'signer name whose CA signs the serving certificates; without such a ClusterSigner, none are issued',
      OWN_TLS_SIGNER,
    )
    .addOption(
      new Option(
        '--target-deadline <duration>',
        'how long after its anchor is published a CA waits for the targets of trust-distributor at most',
      )
        .argParser(durationFlag)
        .default(TARGET_DEADLINE_SECONDS, '30m'),
    )
    .option(
      '--acme-account-keys',
      'also make the account keys of AcmeClusterSigners, in Secrets that the role names',
      false,
    );
}

/** The flags of the component `acme`. */
export interface AcmeOptions extends ComponentOptions {
  readonly namespacedServer: readonly string[];
  readonly renewCertificates: boolean;
}

/** Adds those of {@link AcmeOptions} that the other components do not have. */
export function addAcmeOptions(command: Command): Command {
  return command
    .option(
      '--namespaced-server <url>',
      'directory of an ACME server that AcmeSigners may name (repeatable; default: none)',
      (value: string, before: readonly string[]) => [...before, value],
      [] as readonly string[],
    )
    .option(
      '--renew-certificates',
      'mark Certificates of cert-manager as cmctl renew does when their CA wants them renewed',
      false,
    );
}

/**
 * The one file that KUBECONFIG names, else ~/.kube/config; undefined where KUBECONFIG names several, which are for the
 * official client to merge, and where there is none. Of a single file we read what that client drops: `tokenFile`.
 */
export function kubeconfigFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { KUBECONFIG = '', HOME = '' } = environment;
  const files = KUBECONFIG.split(delimiter).filter((each) => each !== '');
  const own = join(HOME, '.kube/config');
  if (files.length === 0) return HOME !== '' && existsSync(own) ? own : undefined;
  return files.length === 1 ? files[0] : undefined;
}
