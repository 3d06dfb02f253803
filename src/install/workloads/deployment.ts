// SPDX-License-Identifier: Apache-2.0
import { caBundleTargetText } from '#api/object/ca-bundle-target.ts';
import { DEFAULT_SECRET_NAMESPACE, ownTlsSecret } from '#api/signer/own-tls.ts';
import { COMPONENTS, type ComponentName } from '../component-list.ts';
import type { SecretVolume } from '#component/descriptor.ts';
import type { ComponentSettings, InstallationPlan } from '../installation-plan.ts';
import { labelsOf } from '../names.ts';
import {
  holderArguments,
  holderContainers,
  holderMounts,
  holderOf,
  holderVolumes,
} from './key-holder.ts';
import { ledgerArguments, ledgerMounts, ledgerVolumes } from './ledger.ts';
import { CONTAINER_CONFINEMENT, POD_CONFINEMENT } from '../pod-confinement.ts';
import { notifierArguments } from './notifier.ts';
import { scratchArguments, scratchMounts, scratchVolumes } from './scratch.ts';
import { vaultArguments, vaultMounts, vaultVolumes } from './vault.ts';
import type { Manifest } from '../roles.ts';

/** Nodes that can run the image. */
export const LINUX: Readonly<Record<string, string>> = { 'kubernetes.io/os': 'linux' };

/**
 * Returns the Deployment of one component, with its own ServiceAccount and no more than its
 * permissions.
 */
export function deployment(component: ComponentName, plan: InstallationPlan): Manifest {
  const settings = plan.components.get(component);
  if (settings === undefined) throw new TypeError(`no settings of ${component}`);
  const labels = labelsOf(component);
  const description = COMPONENTS.get(component)?.description ?? '';
  const podMetadata = {
    labels: { ...settings.labels, ...labels },
    ...given('annotations', settings.annotations),
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: `countersign-${component}`,
      namespace: plan.installation.namespace,
      labels: { ...settings.labels, ...labels },
      annotations: { 'kubernetes.io/description': description, ...settings.annotations },
    },
    spec: {
      replicas: settings.replicas,
      strategy: strategyOf(component, plan),
      selector: { matchLabels: labels },
      template: { metadata: podMetadata, spec: podSpec(component, settings, plan) },
    },
  };
}

function podSpec(
  component: ComponentName,
  settings: ComponentSettings,
  plan: InstallationPlan,
): Manifest {
  const holder = holderOf(component, plan);
  return {
    affinity: settings.affinity ?? apart(component),
    nodeSelector: { ...settings.nodeSelector, ...LINUX },
    ...given('tolerations', settings.tolerations),
    ...given('topologySpreadConstraints', settings.topologySpreadConstraints),
    ...given('priorityClassName', settings.priorityClassName),
    ...given('imagePullSecrets', plan.image.pullSecrets),
    serviceAccountName: `countersign-${component}`,
    automountServiceAccountToken: true,
    enableServiceLinks: false,
    // Time after SIGTERM to finish requests in flight.
    terminationGracePeriodSeconds: 30,
    securityContext: { ...POD_CONFINEMENT, ...settings.ids },
    ...(holder === undefined
      ? {}
      : { initContainers: holderContainers(holder, plan, CONTAINER_CONFINEMENT) }),
    containers: [container(component, settings, plan)],
    volumes: [
      {
        name: 'serving',
        // Optional: the component starts and works before it has a certificate, and /readyz warns.
        secret: { secretName: ownTlsSecret(component), optional: true },
      },
      ...secretVolumesOf(component).map((volume) => credentials(volume, plan)),
      ...ledgerVolumes(component, plan),
      ...holderVolumes(holder),
      ...vaultVolumes(component, plan),
      ...scratchVolumes(component),
    ],
  };
}

/**
 * Returns a volume with credentials: a Secret that a user fills, or a certificate of a Countersign
 * signer with the same file names.
 */
function credentials(
  { name, secret, signer }: SecretVolume,
  { parts }: InstallationPlan,
): Manifest {
  const signerName = signer === undefined ? undefined : parts[signer];
  if (signerName === undefined) return { name, secret: { secretName: secret, optional: true } };
  const podCertificate = {
    signerName,
    keyType: 'ECDSAP256',
    keyPath: 'tls.key',
    certificateChainPath: 'tls.crt',
  };
  return { name, projected: { sources: [{ podCertificate }] } };
}

/** Returns a preferred anti-affinity, so that a cluster of one node still gets both replicas. */
export function apart(component: string): Manifest {
  const term = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: labelsOf(component) },
  };
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
    },
  };
}

function container(
  component: ComponentName,
  settings: ComponentSettings,
  plan: InstallationPlan,
): Manifest {
  return {
    name: component,
    image: plan.image.reference,
    ...given('imagePullPolicy', plan.image.pullPolicy),
    args: [...argumentsOf(component, plan), ...(settings.extraArgs ?? [])],
    ...given('env', settings.extraEnv),
    ports: [
      { name: 'http', containerPort: 8080 },
      { name: 'https', containerPort: 8443 },
      ...publicPortsOf(component),
    ],
    ...given('lifecycle', drainOf(component)),
    volumeMounts: [
      { name: 'serving', mountPath: '/run/countersign/serving', readOnly: true },
      ...secretVolumesOf(component).map(({ name, mountPath }) => ({
        name,
        mountPath,
        readOnly: true,
      })),
      ...ledgerMounts(component, plan),
      ...holderMounts(holderOf(component, plan)),
      ...vaultMounts(component, plan),
      ...scratchMounts(component),
    ],
    ...probes(),
    resources: settings.resources,
    securityContext: CONTAINER_CONFINEMENT,
  };
}

/** Returns the probes of a container, at its port `http`. */
export function probes(): Manifest {
  const probe = (path: string): Manifest => ({ httpGet: { path, port: 'http' } });
  return {
    startupProbe: { ...probe('/healthz'), periodSeconds: 1, failureThreshold: 30 },
    livenessProbe: {
      ...probe('/healthz'),
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 3,
    },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, timeoutSeconds: 5 },
  };
}

function secretVolumesOf(component: ComponentName): readonly SecretVolume[] {
  return COMPONENTS.get(component)?.secretVolumes ?? [];
}

/** Returns the ports for callers outside the installation. */
function publicPortsOf(component: ComponentName): readonly Manifest[] {
  const { publicPorts = [] } = COMPONENTS.get(component) ?? {};
  return publicPorts.map(({ name, containerPort }) => ({ name, containerPort }));
}

/** Keeps a public port open until every node knows that the pod terminates. */
function drainOf(component: ComponentName): Manifest | undefined {
  const isPublic = publicPortsOf(component).length > 0;
  return isPublic ? { preStop: { sleep: { seconds: 5 } } } : undefined;
}

/** Starts a new pod before an old one ends, unless only one of them can mount the volume. */
function strategyOf(component: ComponentName, { parts }: InstallationPlan): Manifest {
  const hasStorage = COMPONENTS.get(component)?.storage !== undefined;
  const isAlone = hasStorage && parts.ledgerPostgres === undefined;
  return isAlone
    ? { type: 'Recreate' }
    : { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
}

/** Flags for the destinations that AcmeSigners may name. */
type DestinationGrant = keyof NonNullable<InstallationPlan['acme']>;

const GRANTS: Readonly<Record<DestinationGrant, string>> = {
  http01Zones: '--http01-zone',
  servers: '--namespaced-server',
  solvers: '--namespaced-solver',
  networks: '--namespaced-network',
};

/** The flags of each component that calls these destinations or presents to them. */
const GRANTED: Partial<Record<ComponentName, readonly DestinationGrant[]>> = {
  acme: ['http01Zones', 'servers', 'solvers', 'networks'],
  'acme-solver': ['http01Zones', 'solvers', 'networks'],
  'acme-responder': ['http01Zones'],
};

function grantsOf(component: ComponentName, { acme }: InstallationPlan): readonly string[] {
  if (acme === undefined) return [];
  const granted = GRANTED[component] ?? [];
  return granted.flatMap((what) => acme[what].map((each) => `${GRANTS[what]}=${each}`));
}

function argumentsOf(component: ComponentName, plan: InstallationPlan): readonly string[] {
  const { installation, keysNamespace } = plan;
  const servesSigners = COMPONENTS.get(component)?.servesNamespacedSigners === true;
  return [
    component,
    // /metrics is served only there. The port of the probes reports readiness and its reasons.
    '--listen-https=:8443',
    ...(COMPONENTS.get(component)?.leases === false ? ['--no-leases'] : []),
    ...(keysNamespace === DEFAULT_SECRET_NAMESPACE ? [] : [`--secret-namespace=${keysNamespace}`]),
    ...(installation.namespacedSigners === true && servesSigners ? ['--namespaced-signers'] : []),
    ...acmeArguments(component, installation),
    ...ledgerArguments(component, plan),
    ...grantsOf(component, plan),
    ...trustArguments(component, installation),
    ...(component === 'federation' ? (plan.parts.federationArguments ?? []) : []),
    ...notifierArguments(component, plan),
    ...holderArguments(holderOf(component, plan)),
    ...vaultArguments(component, plan),
    ...scratchArguments(component),
  ];
}

/** Returns the objects whose `caBundle` is written. */
function trustArguments(
  component: ComponentName,
  { caBundles = [] }: InstallationPlan['installation'],
): readonly string[] {
  if (component !== 'trust-distributor') return [];
  return caBundles.map((each) => `--ca-bundle-of=${caBundleTargetText(each)}`);
}

/** Returns the arguments for ACME signers. */
function acmeArguments(
  component: ComponentName,
  { acme }: InstallationPlan['installation'],
): readonly string[] {
  if (component === 'authority') return acme === undefined ? [] : ['--acme-account-keys'];
  return component === 'acme' && acme?.renewCertificates === true ? ['--renew-certificates'] : [];
}

/** Returns the field, or nothing without a value. */
function given(field: string, value: unknown): Manifest {
  return value === undefined ? {} : { [field]: value };
}
