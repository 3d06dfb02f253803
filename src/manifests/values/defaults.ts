// SPDX-License-Identifier: Apache-2.0
import { DEFAULT_SECRET_NAMESPACE } from '../../api/signer/own-tls.ts';
import { COMPONENTS } from '../components.ts';
import { DEFAULT_LEDGER } from './ledger-schema.ts';
import type { InstallationValues } from './schema.ts';

/** The namespace of the components where the release has none of its own. */
export const DEFAULT_NAMESPACE = 'countersign-system';

/** What holds where nothing is said: `values.yaml`. A component's replicas and resources are in its description. */
export const DEFAULT_VALUES: InstallationValues = {
  signers: [],
  namespacedSigners: { enabled: false, secrets: [] },
  podServices: false,
  acme: {
    signers: [],
    renewCertificates: false,
    solverSecrets: [],
    dnsWebhooks: [],
    secrets: [],
    servers: [],
    solvers: [],
    networks: [],
    http01Zones: [],
  },
  injection: { enabled: false, profiles: [] },
  caBundles: {
    validatingWebhookConfigurations: [],
    mutatingWebhookConfigurations: [],
    apiServices: [],
    customResourceDefinitions: [],
  },
  bundleEndpoint: { svidSigner: '' },
  federation: {
    ...{ trustDomains: [], endedTrustDomains: [], ownTrustDomains: [] },
    ...{ networks: [], keep: '24h', egress: [] },
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
    ...{ targets: [], networks: [], ownCa: false, source: '', expiring: '7d', rate: 20 },
    pods: false,
    // Names, targets, and the API server.
    egress: [
      {
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
          ...[{ port: 443 }, { port: 6443 }],
        ],
      },
    ],
  },
  defaults: {},
  components: Object.fromEntries([...COMPONENTS.keys()].map((each) => [each, {}])),
};

/**
 * Values over others as Helm merges them: objects key by key, everything else whole.
 *
 * @param over - what wins
 */
export function mergedValues(under: unknown, over: unknown): unknown {
  if (over === undefined) return under;
  if (!isObject(under) || !isObject(over)) return over;
  const keys = [...new Set([...Object.keys(under), ...Object.keys(over)])];
  return Object.fromEntries(keys.map((key) => [key, mergedValues(under[key], over[key])]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
