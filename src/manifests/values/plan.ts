// SPDX-License-Identifier: Apache-2.0
import { ZodError } from 'zod';
import { bundleName } from '../../api/object/cluster-trust-bundle.ts';
import { OWN_TLS_SIGNER } from '../../api/signer/own-tls.ts';
import { usageError } from '../../errors.ts';
import { notificationArguments } from '../notification-arguments.ts';
import { COMPONENTS, type ComponentName } from '../components.ts';
import type {
  ComponentSettings,
  ImagePlan,
  InstallationPlan,
  OptionalParts,
} from '../installation-plan.ts';
import { dnsWebhook, namedAcmeSigner } from './check-acme.ts';
import { caBundleTargets } from './ca-bundles.ts';
import { checkValues, namedSigner } from './check.ts';
import { federatedDomains, federationArguments } from './federation.ts';
import { DEFAULT_NAMESPACE, DEFAULT_VALUES, mergedValues } from './defaults.ts';
import { injectionProfiles } from './injection.ts';
import { ledgerParts } from './ledger.ts';
import { installationValues, type InstallationValues } from './schema.ts';

/** Where and as what the values are installed. */
export interface Release {
  /** The namespace that Helm calls that of the release. */
  readonly namespace: string;
  /** The image's tag where the values name none. */
  readonly version: string;
}

/**
 * The plan of an installation: what the chart's templates make of the same values.
 *
 * @param given - values as the user writes them, without the defaults
 * @throws ZodError for an unknown key or a value of another type
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and what to write
 */
export function planOf(given: unknown, release: Release): InstallationPlan {
  const values = installationValues.parse(mergedValues(DEFAULT_VALUES, given));
  const { keysNamespace, namespacedSigners, acme } = values;
  const namespace = namespaceOf(values, release);
  checkValues(values, namespace);
  const signers = values.signers.map(namedSigner);
  const injected = injectionProfiles(
    values.injection,
    signers.map(({ name }) => name),
  );
  const made = values.namespaces.create ? [namespace, keysNamespace] : [];
  return {
    installation: {
      signers: signers.map(({ name }) => name),
      bundles: signers
        .filter(({ bundle }) => bundle !== '')
        .map(({ name, bundle }) => bundleName(name, bundle)),
      secrets: signers.map(({ secret }) => ({ namespace: keysNamespace, name: secret })),
      namespacedSigners: namespacedSigners.enabled,
      signerSecrets: namespacedSigners.secrets,
      podServices: values.podServices,
      notifiedPods: values.notifications.pods,
      ledgerFacts: values.ledger.facts,
      caBundles: caBundleTargets(values.caBundles),
      monitoredSecrets: values.ledger.monitoredSecrets,
      federated: federatedDomains(values.federation),
      namespace,
      servingSigner: OWN_TLS_SIGNER,
      ...acmeOf(values),
      ...(injected === undefined ? {} : { injection: injected }),
    },
    keysNamespace,
    acme: calledBy(acme),
    // Helm makes the release's own with --create-namespace, and refuses one that it finds.
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
 * The same, for values of a person.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and what to write
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

/** What AcmeSigners may have called, and where they may have files served. */
function calledBy({
  servers,
  solvers,
  networks,
  http01Zones,
}: InstallationValues['acme']): NonNullable<InstallationPlan['acme']> {
  return { servers, solvers, networks, http01Zones };
}

/** Names of ACME, where the components are there. */
function acmeOf(
  values: InstallationValues,
): Pick<InstallationPlan['installation'], 'acme' | 'solverSecrets' | 'dnsWebhooks'> {
  const { signers: named, secrets, renewCertificates, solverSecrets, dnsWebhooks } = values.acme;
  const solving = { solverSecrets, dnsWebhooks: dnsWebhooks.map(dnsWebhook) };
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
  const { enabled = optional.enabled } = (components[component] ?? {}) as { enabled?: boolean };
  return enabled;
}

/** What the component is described with, under what is said for all, under what is said for it. */
function settingsOf(component: ComponentName, values: InstallationValues): ComponentSettings {
  const { replicas, resources } = COMPONENTS.get(component) ?? {};
  const own = values.components[component];
  const all = mergedValues(mergedValues({ replicas, resources }, values.defaults), own);
  const given = Object.entries(all as ComponentSettings).filter(
    ([key, value]) => key !== 'enabled' && !isEmpty(value),
  );
  return Object.fromEntries(given) as unknown as ComponentSettings;
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
      ? { networkPolicy: { from: networkPolicy.from, notifierEgress: notifications.egress } }
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
  };
}

function federationOf({
  federation,
}: InstallationValues): Pick<OptionalParts, 'federationArguments' | 'federationEgress'> {
  const { egress } = federation;
  return {
    federationArguments: federationArguments(federation),
    ...(egress.length === 0 ? {} : { federationEgress: egress }),
  };
}
