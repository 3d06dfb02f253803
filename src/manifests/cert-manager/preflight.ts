// SPDX-License-Identifier: Apache-2.0
/** What is refused before a release is looked at. Each check returns the refusal, or undefined. */
import {
  CERT_MANAGER_COMPONENTS,
  type CertManagerSpec,
} from '../../api/operator/cert-manager-deployment.ts';
import type { ComponentOverrides } from '../../api/operator/countersign.ts';
import type { Refusal } from '../../installing/desired.ts';
import { quote } from '../../quote.ts';
import { refuseMarks } from '../operator/marks.ts';
import { checkArguments, refuseChecked, type KeptFlags, type Mould } from '../operator/mould.ts';
import { minorOf, refuseEnvironment } from '../operator/preflight.ts';
import { CERT_MANAGER_MOULDS, RELEASES } from './releases.ts';

/** What the administrator who installs the operator decides, and the writer of a CertManagerDeployment does not. */
export interface CertManagerSettings {
  /** Version → sum of releases besides those of this build. */
  readonly moreReleases: Readonly<Record<string, string>>;
  /** Whether `spec.dangerZone` is allowed. */
  readonly dangerZone: boolean;
}

/** Version → sum of every release that may be installed. An administrator's does not change what this build knows. */
export function sumsOf({ moreReleases }: CertManagerSettings): Readonly<Record<string, string>> {
  return { ...moreReleases, ...RELEASES.sums };
}

const KEPT: KeptFlags = {
  // What would lead a component away from this cluster or this installation, or choose an image.
  never: new Set([
    ...['--kubeconfig', '--master', '--api-server-host', '--config', '--namespace'],
    ...['--leader-elect', '--leader-election-namespace', '--cluster-resource-namespace'],
    ...['--acme-http01-solver-image', '--secure-port', '--healthz-port', '--client-ca-path'],
    ...['--enable-client-verification', '--tls-cert-file', '--tls-private-key-file'],
    ...['--dynamic-serving-ca-secret-name', '--dynamic-serving-ca-secret-namespace'],
    ...['--dynamic-serving-dns-names', '--internal-healthz-listen-address'],
    ...['--internal-healthz-leader-election-timeout', '--help'],
    // cert-manager writes its own CA over the Secret that they name, in whatever namespace.
    '--metrics-dynamic-serving-ca-secret-name',
    '--metrics-dynamic-serving-ca-secret-namespace',
    // As --v, of single files.
    '--vmodule',
  ]),
  dangerous: new Set([
    // Every Issuer, of whatever namespace, uses cert-manager's own credentials.
    '--issuer-ambient-credentials',
    // Pods of namespaces of others: as root, or under the labels of other workloads.
    '--acme-http01-solver-run-as-non-root',
    '--acme-http01-solver-extra-labels',
  ]),
};

/** What leads the SDKs of DNS providers to a file that they send, and to whom: the ServiceAccount's token is a file as well. */
const CLOUD = /^(?:AWS_(?!REGION$|DEFAULT_REGION$)|AZURE_|GOOGLE_|GCE_)/i;

/** The first of all refusals. */
export function refuseSpec(
  spec: CertManagerSpec,
  settings: CertManagerSettings,
): Refusal | undefined {
  return (
    refuseVersion(spec, settings) ??
    refuseDangerZone(spec, settings) ??
    refuseEnvironment(overridesOf(spec)) ??
    refuseMarks(overridesOf(spec), settings.dangerZone) ??
    refuseCloud(spec) ??
    refuseArguments(spec) ??
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
  const minors = Object.keys(CERT_MANAGER_MOULDS);
  const known = sumsOf(settings);
  if (minors.includes(minorOf(version) ?? '') && Object.hasOwn(known, version)) return undefined;
  const more = minors.includes(minorOf(version) ?? '')
    ? '; an administrator lists a later patch with the operator’s flag --allow-release'
    : '';
  const versions = Object.keys(known).sort().join(', ');
  const message = `spec.version: this operator installs cert-manager ${versions}, and not ${quote(version, 64)}${more}`;
  return { reason: 'UnsupportedVersion', message };
}

function refuseDangerZone(
  { dangerZone }: CertManagerSpec,
  settings: CertManagerSettings,
): Refusal | undefined {
  if (dangerZone === undefined || settings.dangerZone) return undefined;
  const message =
    'spec.dangerZone: it is not allowed; an administrator adds --allow-danger-zone to the operator’s flags';
  return { reason: 'DangerZoneNotAllowed', message };
}

/** The token of cert-manager is worth that of a cluster-admin. */
function refuseCloud({ components = {} }: CertManagerSpec): Refusal | undefined {
  for (const [component, { extraEnv = [] }] of Object.entries(components)) {
    const found = extraEnv.find(({ name }) => CLOUD.test(name));
    if (found === undefined) continue;
    const message = `spec.components.${component}.extraEnv: ${quote(found.name, 128)} is never set: it could send cert-manager’s own token to somebody; write credentials into the Issuer`;
    return { reason: 'ForbiddenEnvironment', message };
  }
  return undefined;
}

function refuseArguments({
  version,
  components = {},
  dangerZone,
}: CertManagerSpec): Refusal | undefined {
  const mould = mouldOf(version);
  for (const component of CERT_MANAGER_COMPONENTS) {
    const { extraArgs = [] } = components[component] ?? {};
    const { [component]: dangerous = [] } = dangerZone?.extraArgs ?? {};
    const checked = {
      ...checkArguments(mould[component], extraArgs, KEPT),
      faults: faultsOf(mould[component], [...extraArgs, ...dangerous]),
    };
    const refusal = refuseChecked(
      `the extraArgs of ${component}`,
      checked,
      (flags) =>
        `cert-manager ${version} does not know ${flags}; correct it, or use spec.dangerZone`,
    );
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** What is wrong whatever the version. With --v of more than 7, client-go logs what the API server answers. */
function faultsOf(flags: Mould[string] | undefined, given: readonly string[]): readonly string[] {
  const verbose = given
    .filter((each) => each.startsWith('--v=') && !/^--v=[0-7]$/.test(each))
    .map((each) => `${each} is not 0 to 7: with more, Secrets are in the log`);
  return [...checkArguments(flags, given, KEPT).faults, ...verbose];
}

/** The API server would refuse every Certificate, because nobody answers for the webhook. */
function refuseNoWebhook({ components }: CertManagerSpec): Refusal | undefined {
  if (components?.webhook?.['replicas'] !== 0) return undefined;
  const message =
    'spec.components.webhook.replicas: without a pod of the webhook, the API server refuses every Certificate; write 1 or more';
  return { reason: 'InvalidSpec', message };
}

function mouldOf(version: string): Mould {
  return CERT_MANAGER_MOULDS[minorOf(version) ?? ''] ?? {};
}

/** Arguments of the danger zone that the version does not know. */
export function unknownArguments({ version, dangerZone }: CertManagerSpec): readonly string[] {
  return CERT_MANAGER_COMPONENTS.flatMap((component) =>
    checkArguments(
      mouldOf(version)[component],
      dangerZone?.extraArgs?.[component] ?? [],
      KEPT,
    ).unknown.map((flag) => `${component} ${flag}`),
  );
}

/** Whether it is of the older one of the two minor versions: the next operator does not install it. */
export function isOldest(version: string): boolean {
  const patch = (minor: string): number => Number(minor.split('.')[1]);
  const [oldest] = Object.keys(CERT_MANAGER_MOULDS).sort((a, b) => patch(a) - patch(b));
  return minorOf(version) === oldest;
}
