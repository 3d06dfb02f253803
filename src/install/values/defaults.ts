// SPDX-License-Identifier: Apache-2.0
import { isRecord } from '#base/record.ts';
import { DEFAULT_SECRET_NAMESPACE } from '#api/signer/own-tls.ts';
import { COMPONENTS } from '../component-list.ts';
import { DEFAULT_LEDGER } from './ledger-schema.ts';
import type { InstallationValues } from './schema.ts';

/** Namespace of the components if the release has no namespace of its own. */
export const DEFAULT_NAMESPACE = 'countersign-system';

/** Default values: `values.yaml`. A component's replicas and resources are in its description. */
export const DEFAULT_VALUES: InstallationValues = {
  signers: [],
  signerDomains: [],
  namespacedSigners: { enabled: false, secrets: [] },
  podServices: false,
  acme: {
    signers: [],
    renewCertificates: false,
    solverSecrets: [],
    dnsWebhooks: [],
    routeMetadata: [],
    secrets: [],
    servers: [],
    solvers: [],
    networks: [],
    http01Zones: [],
  },
  external: { signers: [], vaults: [] },
  upstreamIssuers: [],
  upstreamVaults: [],
  injection: { enabled: false, profiles: [] },
  caBundles: {
    validatingWebhookConfigurations: [],
    mutatingWebhookConfigurations: [],
    apiServices: [],
    customResourceDefinitions: [],
  },
  bundleEndpoint: { svidSigner: '' },
  federation: {
    trustDomains: [],
    endedTrustDomains: [],
    ownTrustDomains: [],
    networks: [],
    keep: '24h',
    egress: [],
  },
  namespace: '',
  keysNamespace: DEFAULT_SECRET_NAMESPACE,
  namespaces: { create: true },
  image: { repository: 'countersign', tag: '', digest: '', pullPolicy: '', pullSecrets: [] },
  crds: { install: true, keep: true },
  servingSigner: { create: true },
  whoMayRequest: false,
  networkPolicy: {
    enabled: false,
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
  },
  serviceMonitor: { enabled: false, labels: {}, interval: '30s' },
  alerts: { enabled: false, labels: {} },
  dashboards: { enabled: false, labels: { grafana_dashboard: '1' } },
  ledger: DEFAULT_LEDGER,
  notifications: {
    targets: [],
    networks: [],
    ownCa: false,
    source: '',
    expiring: '7d',
    rate: 20,
    pods: false,
    // Allow DNS, targets, and the API server.
    egress: [
      {
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
          { port: 443, protocol: 'TCP' },
          { port: 6443, protocol: 'TCP' },
        ],
      },
    ],
  },
  defaults: {},
  components: Object.fromEntries([...COMPONENTS.keys()].map((each) => [each, {}])),
};

/**
 * Merges values as Helm does: objects key by key, everything else whole.
 *
 * @param over - the values that win
 */
export function mergedValues(under: unknown, over: unknown): unknown {
  return merged(under, over, () => true);
}

/**
 * Fills in the defaults as Helm does. A null removes the default of its key. Elsewhere it stays,
 * and the schema judges it.
 */
export function filledValues(defaults: unknown, given: unknown): unknown {
  return merged(
    defaults,
    given,
    (under, key, value) => value !== null || !Object.hasOwn(under, key),
  );
}

/** @param isKept - reports whether a value over a record stays */
function merged(
  under: unknown,
  over: unknown,
  isKept: (under: object, key: string, value: unknown) => boolean,
): unknown {
  if (over === undefined) return under;
  if (!isRecord(under) || !isRecord(over)) return over;
  const keys = Object.keys({ ...under, ...over }).filter((key) => isKept(under, key, over[key]));
  return Object.fromEntries(keys.map((key) => [key, merged(under[key], over[key], isKept)]));
}
