// SPDX-License-Identifier: Apache-2.0
import { membersOf } from '#base/record.ts';
import { ZodError } from 'zod';
import { byServedKind, SERVED_KINDS, type SecretReference } from '#api/signer/cluster-signer.ts';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import { usageError } from '#base/errors.ts';
import { notificationArguments } from '../notification-arguments.ts';
import { vaultParts } from '../vault-parts.ts';
import { COMPONENTS, type ComponentName } from '../component-list.ts';
import type {
  ComponentSettings,
  ImagePlan,
  InstallationPlan,
  OptionalParts,
} from '../installation-plan.ts';
import { dnsWebhook, namedAcmeSigner } from './check-acme.ts';
import { caBundleTargets } from './ca-bundles.ts';
import {
  HOLDER_RESOURCES,
  HOLDER_TOKEN_RESOURCES,
  moduleParts,
  sidecarArguments,
  sidecarSources,
  type SidecarPlan,
} from '../key-holder-sidecar.ts';
import { checkRequests } from './check-resources.ts';
import { checkValues, namedSigner, type NamedSigner } from './check.ts';
import { externalNames, externalVault } from './external.ts';
import { federatedDomains, federationArguments } from './federation.ts';
import { DEFAULT_NAMESPACE, DEFAULT_VALUES, filledValues, mergedValues } from './defaults.ts';
import { withProtocols } from './egress.ts';
import { injectionProfiles } from './injection.ts';
import type { KeyHolderValues } from './key-holder.ts';
import { ledgerParts } from './ledger.ts';
import { labelsOf } from '../names.ts';
import { podIds } from '../pod-confinement.ts';
import { installationValues, type InstallationValues } from './schema.ts';

/** Namespace and version of the installation. */
export interface Release {
  /** The namespace of the Helm release. */
  readonly namespace: string;
  /** The image's tag if the values have none. */
  readonly version: string;
}

/**
 * Returns the plan of an installation: what the chart's templates make from the same values.
 *
 * @param given - values as the user writes them, without the defaults
 * @throws ZodError for an unknown key or a value of another type
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and the fix
 */
export function planOf(given: unknown, release: Release): InstallationPlan {
  const values = installationValues.parse(filledValues(DEFAULT_VALUES, given));
  const { keysNamespace, namespacedSigners, acme } = values;
  const namespace = namespaceOf(values, release);
  checkValues(values, namespace);
  const signers = values.signers.map(namedSigner);
  const injected = injectionProfiles(values.injection, signers);
  const made = values.namespaces.create ? [namespace, keysNamespace] : [];
  return {
    installation: {
      signers: signers.map(({ name }) => name),
      signerDomains: values.signerDomains,
      bundles: signers
        .filter(({ bundle }) => bundle !== '')
        .map(({ name, bundle }) => bundleName(name, bundle)),
      secrets: secretsOf(signers, keysNamespace),
      keysNamespace,
      ...servedOf(signers, keysNamespace),
      namespacedSigners: namespacedSigners.enabled,
      signerSecrets: namespacedSigners.secrets,
      podServices: values.podServices,
      notifiedPods: values.notifications.pods,
      ledgerFacts: values.ledger.facts,
      aggregatedApi: values.ledger.aggregatedApi,
      caBundles: caBundleTargets(values.caBundles),
      monitoredSecrets: values.ledger.monitoredSecrets,
      upstreamIssuers: values.upstreamIssuers,
      federated: federatedDomains(values.federation),
      namespace,
      servingSigner: OWN_TLS_SIGNER,
      ...acmeOf(values),
      ...externalNames(values),
      ...(injected === undefined ? {} : { injection: injected }),
    },
    keysNamespace,
    acme: calledBy(acme),
    // Helm creates the release's own namespace with --create-namespace, and rejects an existing
    // one.
    namespaces: made.filter((each) => each !== release.namespace),
    image: imageOf(values, release),
    components: new Map(
      [...COMPONENTS.keys()]
        .filter((component) => isEnabled(component, values))
        .map((component) => [component, settingsOf(component, values)]),
    ),
    parts: partsOf(values),
  };
}

/**
 * Returns the same plan for values that a user wrote.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and the fix
 */
export function checkedPlanOf(given: unknown, release: Release): InstallationPlan {
  try {
    return planOf(given, release);
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    const faults = error.issues.map(
      ({ path, message }) => `${path.join('.') || 'values'}: ${message}`,
    );
    const message = `the values are not those of the chart: ${faults.join('; ')}`;
    throw usageError(message);
  }
}

/** Returns the Secrets of CAs whose keys are not in a key holder. */
function secretsOf(signers: readonly NamedSigner[], namespace: string): readonly SecretReference[] {
  return signers.filter(({ isHeld }) => !isHeld).map(({ secret: name }) => ({ namespace, name }));
}

/**
 * Returns the names of the signers that serve each kind of requests, or nothing if each signer
 * serves all kinds.
 */
function servedOf(
  signers: readonly NamedSigner[],
  namespace: string,
): Pick<InstallationPlan['installation'], 'served'> {
  if (signers.every(({ serves }) => SERVED_KINDS.every((kind) => serves.includes(kind)))) return {};
  const served = byServedKind((kind) => {
    const ofKind = signers.filter(({ serves }) => serves.includes(kind));
    return {
      signers: ofKind.map(({ name }) => name),
      secrets: secretsOf(ofKind, namespace),
    };
  });
  return { served };
}

/** Returns the destinations for AcmeSigners, and the names that they may prove by files. */
function calledBy({
  servers,
  solvers,
  networks,
  http01Zones,
}: InstallationValues['acme']): NonNullable<InstallationPlan['acme']> {
  return { servers, solvers, networks, http01Zones };
}

/** Returns the names for ACME if its components are enabled. */
function acmeOf(
  values: InstallationValues,
): Pick<
  InstallationPlan['installation'],
  'acme' | 'solverSecrets' | 'dnsWebhooks' | 'routeMetadata'
> {
  const {
    signers: named,
    secrets,
    renewCertificates,
    solverSecrets,
    dnsWebhooks,
    routeMetadata,
  } = values.acme;
  const solving = { solverSecrets, dnsWebhooks: dnsWebhooks.map(dnsWebhook), routeMetadata };
  if (!isEnabled('acme', values)) return solving;
  const signers = named.map(namedAcmeSigner);
  const inKeys = (name: string) => ({ namespace: values.keysNamespace, name });
  return {
    ...solving,
    acme: {
      renewCertificates,
      signers: signers.map(({ name }) => name),
      accountKeys: signers.map(({ accountSecret }) => inKeys(accountSecret)),
      secrets: [
        ...signers.flatMap(({ externalAccountSecret: name }) =>
          name === undefined ? [] : [inKeys(name)],
        ),
        ...secrets,
      ],
    },
  };
}

function namespaceOf({ namespace }: InstallationValues, release: Release): string {
  if (namespace !== '') return namespace;
  return release.namespace === 'default' ? DEFAULT_NAMESPACE : release.namespace;
}

function imageOf({ image }: InstallationValues, { version }: Release): ImagePlan {
  const { repository, digest, pullPolicy, pullSecrets } = image;
  const tag = image.tag === '' && digest === '' ? version : image.tag;
  const reference = `${repository}${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;
  return {
    reference,
    ...(pullPolicy === '' ? {} : { pullPolicy }),
    ...(pullSecrets.length === 0 ? {} : { pullSecrets }),
  };
}

function isEnabled(component: ComponentName, { components }: InstallationValues): boolean {
  const { optional } = COMPONENTS.get(component) ?? {};
  if (optional === undefined) return true;
  const { enabled = optional.enabled } = components[component] ?? {};
  return enabled;
}

/** Values of a component that the plan has in another form. */
const TRANSLATED: ReadonlySet<string> = new Set(['enabled', 'keyHolder', 'podSecurityContext']);

const SPREAD = 'topologySpreadConstraints';
/** An empty one, or null, takes the place of the default as well. */
const AFFINITY = 'affinity';

function translated(key: string, value: unknown, component: ComponentName): unknown {
  if (key === AFFINITY) return value ?? {};
  return key === SPREAD ? spreadOf(value, component) : value;
}

/**
 * Adds the component's own labels to each constraint without a selector. The API server accepts
 * one, and the scheduler then counts no pod (kubernetes/kubernetes#135797).
 */
function spreadOf(constraints: unknown, component: ComponentName): unknown {
  if (!Array.isArray(constraints)) return constraints;
  const labelSelector = { matchLabels: labelsOf(component) };
  return constraints.map((each: unknown) => ({ labelSelector, ...membersOf(each) }));
}

/**
 * Returns a component's settings: its own values over the defaults of all components over its
 * description.
 */
function settingsOf(component: ComponentName, values: InstallationValues): ComponentSettings {
  const { replicas, resources } = COMPONENTS.get(component) ?? {};
  const own = values.components[component];
  const all = mergedValues(mergedValues({ replicas, resources }, values.defaults), own);
  const given = Object.entries(membersOf(all))
    .filter(([key, value]) => !TRANSLATED.has(key) && (key === AFFINITY || !isEmpty(value)))
    .map(([key, value]) => [key, translated(key, value, component)]);
  // Values merged with settings are settings.
  const settings = Object.fromEntries(given) as ComponentSettings;
  checkRequests(`components.${component}.resources`, settings.resources);
  const holder = own?.keyHolder;
  const ids = { ...values.defaults.podSecurityContext, ...own?.podSecurityContext };
  return {
    ...settings,
    ids: podIds(ids, holder !== undefined),
    ...(holder === undefined ? {} : { keyHolder: sidecarOf(component, holder) }),
  };
}

function sidecarOf(
  component: ComponentName,
  { keys, pkcs11, resources: given }: KeyHolderValues,
): SidecarPlan {
  const measured = pkcs11 === undefined ? HOLDER_RESOURCES : HOLDER_TOKEN_RESOURCES;
  const resources = {
    requests: { ...measured.requests, ...given?.requests },
    limits: { ...measured.limits, ...given?.limits },
  };
  checkRequests(`components.${component}.keyHolder.resources`, resources);
  return {
    args: sidecarArguments(keys, pkcs11),
    sources: sidecarSources(keys),
    resources,
    ...moduleParts(pkcs11),
  };
}

function isEmpty(value: unknown): boolean {
  if (value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function partsOf(values: InstallationValues): OptionalParts {
  const { networkPolicy, serviceMonitor, alerts, dashboards, notifications } = values;
  const { svidSigner } = values.bundleEndpoint;
  return {
    whoMayRequest: values.whoMayRequest,
    servingSigner: values.servingSigner.create,
    ...(networkPolicy.enabled
      ? {
          networkPolicy: {
            from: networkPolicy.from,
            notifierEgress: withProtocols(notifications.egress),
          },
        }
      : {}),
    notifierArguments: notificationArguments(notifications),
    ...(serviceMonitor.enabled
      ? { serviceMonitors: { labels: serviceMonitor.labels, interval: serviceMonitor.interval } }
      : {}),
    ...(alerts.enabled ? { alerts: { labels: alerts.labels } } : {}),
    ...(dashboards.enabled ? { dashboards: { labels: dashboards.labels } } : {}),
    ...(isEnabled('ledger', values) ? ledgerParts(values) : {}),
    ...(svidSigner === '' ? {} : { svidSigner }),
    ...(isEnabled('federation', values) ? federationOf(values) : {}),
    ...vaultOf(values),
    ...externalVault(values),
  };
}

function vaultOf({ upstreamVaults }: InstallationValues): Pick<OptionalParts, 'vault'> {
  const vault = vaultParts(upstreamVaults, '--upstream-vault');
  return vault === undefined ? {} : { vault };
}

function federationOf({
  federation,
}: InstallationValues): Pick<OptionalParts, 'federationArguments' | 'federationEgress'> {
  const { egress } = federation;
  return {
    federationArguments: federationArguments(federation),
    ...(egress.length === 0 ? {} : { federationEgress: withProtocols(egress) }),
  };
}
