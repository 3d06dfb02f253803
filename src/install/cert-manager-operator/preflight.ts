// SPDX-License-Identifier: Apache-2.0
/** Checks of a spec before a release is read. Each returns the refusal, or undefined. */
import {
  CERT_MANAGER_COMPONENTS,
  type CertManagerSpec,
} from '#api/operator/cert-manager-deployment.ts';
import type { ComponentOverrides } from '#api/operator/countersign.ts';
import type { Refusal } from '../reconcile/desired.ts';
import { refuseEnvironment, type AllowedEnvironment } from '../operator/environment.ts';
import { refuseMetadata } from '../operator/metadata-rules.ts';
import {
  checkArguments,
  refuseChecked,
  type KeptFlags,
  type FlagSchema,
} from '../operator/check-flags.ts';
import { minorOf } from '../operator/preflight.ts';
import { quantityFault, requestFault } from '../values/check-resources.ts';
import { printable } from '#base/quote.ts';
import { unconfirmedMessage } from './release.ts';
import { CERT_MANAGER_FLAG_SCHEMAS, MIN_KUBERNETES_MINORS, RELEASES } from './releases.ts';
import * as messages from './messages.ts';

/**
 * Settings of the administrator who installs the operator, which the writer of a
 * CertManagerDeployment cannot change.
 */
export interface CertManagerSettings {
  /** Version → sum of further releases that this build does not know. */
  readonly moreReleases: Readonly<Record<string, string>>;
  /** Allow `spec.dangerZone`. */
  readonly dangerZone: boolean;
}

/**
 * Returns the sum of every release that may be installed, by version: the confirmed ones of this
 * build, and those that an administrator lists. A listed sum does not replace a confirmed one.
 */
export function sumsOf({ moreReleases }: CertManagerSettings): Readonly<Record<string, string>> {
  const confirmed = Object.entries(RELEASES.rows)
    .filter(([, row]) => row.state === 'confirmed')
    .map(([version, { sum }]) => [version, sum] as const);
  return { ...moreReleases, ...Object.fromEntries(confirmed) };
}

const KEPT: KeptFlags = {
  // Flags that would lead a component away from this cluster or this installation, or choose an
  // image.
  never: new Set([
    '--kubeconfig',
    '--master',
    '--api-server-host',
    '--config',
    '--namespace',
    '--leader-elect',
    '--leader-election-namespace',
    '--cluster-resource-namespace',
    '--acme-http01-solver-image',
    '--secure-port',
    '--healthz-port',
    '--client-ca-path',
    '--enable-client-verification',
    '--tls-cert-file',
    '--tls-private-key-file',
    '--dynamic-serving-ca-secret-name',
    '--dynamic-serving-ca-secret-namespace',
    '--dynamic-serving-dns-names',
    '--internal-healthz-listen-address',
    '--internal-healthz-leader-election-timeout',
    '--help',
    // cert-manager overwrites the Secret that they name with its own CA, in any namespace.
    '--metrics-dynamic-serving-ca-secret-name',
    '--metrics-dynamic-serving-ca-secret-namespace',
    // Like --v, for single files.
    '--vmodule',
    // Files that are read as a key.
    '--metrics-tls-cert-file',
    '--metrics-tls-private-key-file',
  ]),
  dangerous: new Set([
    // Lets Issuers of all namespaces use cert-manager's own credentials.
    '--issuer-ambient-credentials',
    // Affect pods in other users' namespaces: run them as root, or with the labels of other
    // workloads.
    '--acme-http01-solver-run-as-non-root',
    '--acme-http01-solver-extra-labels',
    // Choose the servers that a component queries and trusts.
    '--acme-http01-solver-nameservers',
    '--dns01-recursive-nameservers',
    '--dns01-recursive-nameservers-only',
    '--client-subject-names',
    // Lets every ClusterIssuer use cert-manager's own credentials. It is on by default, and the
    // administrator decides whether it stays on.
    '--cluster-issuer-ambient-credentials',
    // Choose who may read profiles and metrics of the process.
    '--enable-profiling',
    '--profiler-address',
    '--metrics-listen-address',
  ]),
};

/**
 * Environment variables that a spec may set. None makes the SDKs of DNS providers send a file, or
 * chooses where. The ServiceAccount's token is a file too, and worth that of a cluster-admin. A
 * proxy receives the calls to every server, including the API server.
 */
const ENVIRONMENT: AllowedEnvironment = {
  harmless: new Set(['TZ', 'GOMAXPROCS', 'GOMEMLIMIT', 'GOGC', 'AWS_REGION', 'AWS_DEFAULT_REGION']),
  dangerous: new Set(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  ),
};

/** Returns the first refusal. */
export function refuseSpec(
  spec: CertManagerSpec,
  settings: CertManagerSettings,
): Refusal | undefined {
  return (
    refuseVersion(spec, settings) ??
    refuseDangerZone(spec, settings) ??
    refuseEnvironment(overridesOf(spec), ENVIRONMENT, settings.dangerZone) ??
    refuseMetadata(overridesOf(spec), settings.dangerZone) ??
    refuseArguments(spec) ??
    refuseResources(spec) ??
    refuseNoWebhook(spec)
  );
}

function overridesOf({
  components = {},
}: CertManagerSpec): readonly (readonly [at: string, given: ComponentOverrides])[] {
  return Object.entries(components).map(([name, each]) => [`spec.components.${name}`, each]);
}

function refuseVersion(
  { version }: CertManagerSpec,
  settings: CertManagerSettings,
): Refusal | undefined {
  const minors = Object.keys(CERT_MANAGER_FLAG_SCHEMAS);
  const known = sumsOf(settings);
  if (minors.includes(minorOf(version) ?? '') && Object.hasOwn(known, version)) return undefined;
  const row = Object.hasOwn(RELEASES.rows, version) ? RELEASES.rows[version] : undefined;
  if (row !== undefined) {
    const message = messages.unconfirmedVersion(unconfirmedMessage(version, row));
    return { reason: 'ReleaseUnconfirmed', message };
  }
  const more = minors.includes(minorOf(version) ?? '') ? messages.LATER_PATCH : '';
  const versions = Object.keys(known).sort().join(', ');
  const message = messages.unsupportedVersion(versions, version, more);
  return { reason: 'UnsupportedVersion', message };
}

function refuseDangerZone(
  { dangerZone }: CertManagerSpec,
  settings: CertManagerSettings,
): Refusal | undefined {
  if (dangerZone === undefined || settings.dangerZone) return undefined;
  const message = messages.DANGER_ZONE_NOT_ALLOWED;
  return { reason: 'DangerZoneNotAllowed', message };
}

function refuseArguments({
  version,
  components = {},
  dangerZone,
}: CertManagerSpec): Refusal | undefined {
  const flagSchema = flagSchemaOf(version);
  for (const component of CERT_MANAGER_COMPONENTS) {
    const { extraArgs = [] } = components[component] ?? {};
    const { [component]: dangerous = [] } = dangerZone?.extraArgs ?? {};
    const checked = {
      ...checkArguments(flagSchema[component], extraArgs, KEPT),
      faults: faultsOf(flagSchema[component], [...extraArgs, ...dangerous]),
    };
    const refusal = refuseChecked(messages.argumentsOf(component), checked, (flags) =>
      messages.unknownFlags(version, flags),
    );
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/**
 * Returns faults that do not depend on the version. With --v above 7, client-go logs responses of
 * the API server.
 */
function faultsOf(
  flags: FlagSchema[string] | undefined,
  given: readonly string[],
): readonly string[] {
  const verbose = given
    .filter((each) => each.startsWith('--v=') && !/^--v=[0-7]$/.test(each))
    .map((each) => messages.verbose(each));
  return [...checkArguments(flags, given, KEPT).faults, ...verbose];
}

/**
 * Rejects a webhook without replicas: the API server would reject every Certificate, because the
 * webhook would not answer.
 */
function refuseNoWebhook({ components }: CertManagerSpec): Refusal | undefined {
  if (components?.webhook?.['replicas'] !== 0) return undefined;
  const message = messages.NO_WEBHOOK;
  return { reason: 'InvalidSpec', message };
}

/** Rejects what the API server would reject in one Deployment after the others are installed. */
function refuseResources(spec: CertManagerSpec): Refusal | undefined {
  for (const [at, { resources = {} }] of overridesOf(spec)) {
    const place = `${at}.resources`;
    const fault = quantityFault(place, resources) ?? requestFault(place, resources);
    if (fault !== undefined) return { reason: 'InvalidSpec', message: printable(fault) };
  }
  return undefined;
}

function flagSchemaOf(version: string): FlagSchema {
  return CERT_MANAGER_FLAG_SCHEMAS[minorOf(version) ?? ''] ?? {};
}

/** Returns arguments of the danger zone that the version does not know. */
export function unknownArguments({ version, dangerZone }: CertManagerSpec): readonly string[] {
  return CERT_MANAGER_COMPONENTS.flatMap((component) =>
    checkArguments(
      flagSchemaOf(version)[component],
      dangerZone?.extraArgs?.[component] ?? [],
      KEPT,
    ).unknown.map((flag) => `${component} ${flag}`),
  );
}

/**
 * Returns the first minor version of Kubernetes 1 that a version of cert-manager supports.
 *
 * @param version - one that `refuseSpec` accepts
 */
export function minKubernetesMinorOf(version: string): number {
  return MIN_KUBERNETES_MINORS[minorOf(version) ?? ''] ?? Infinity;
}

/**
 * Reports whether the version belongs to the older of the two minor versions, which the next
 * operator does not install.
 */
export function isOldest(version: string): boolean {
  const patch = (minor: string): number => Number(minor.split('.')[1]);
  const [oldest] = Object.keys(CERT_MANAGER_FLAG_SCHEMAS).sort((a, b) => patch(a) - patch(b));
  return minorOf(version) === oldest;
}
