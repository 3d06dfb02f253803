// SPDX-License-Identifier: Apache-2.0
/** Access to metrics, their scraping, and alerts. All of it is opt-in. */
import { OWN_TLS_CONFIG_MAP } from '#api/signer/own-tls.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { LABELS, labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';
import { ALERT_RULES } from './alert-rules.ts';
import { grafanaDashboard } from './dashboards.ts';
import { OPTIONAL_COMPONENTS } from './optional-panels.ts';
import { OVERVIEW } from './panels.ts';

const DASHBOARDS = [OVERVIEW, OPTIONAL_COMPONENTS];

const OPERATOR = 'monitoring.coreos.com/v1';

/**
 * Returns the policy that lets only the peers reach the TLS port. Kubelets probe from the node,
 * which most network plugins allow.
 */
export function networkPolicy({ installation, parts }: InstallationPlan): readonly Manifest[] {
  if (parts.networkPolicy === undefined) return [];
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'countersign', namespace: installation.namespace },
      spec: {
        podSelector: { matchLabels: LABELS },
        policyTypes: ['Ingress'],
        ingress: [{ from: parts.networkPolicy.from, ports: [{ port: 8443, protocol: 'TCP' }] }],
      },
    },
  ];
}

/**
 * Returns the policy for the destinations of `federation`. If compromised, it could otherwise call
 * any host.
 */
export function egressPolicy({ installation, parts }: InstallationPlan): readonly Manifest[] {
  if (parts.federationEgress === undefined) return [];
  const labels = labelsOf('federation');
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'countersign-federation', namespace: installation.namespace, labels },
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ['Egress'],
        egress: parts.federationEgress,
      },
    },
  ];
}

/** Returns one ServiceMonitor for each component, since each has its own server name. */
export function serviceMonitors(plan: InstallationPlan): readonly Manifest[] {
  const { installation, parts, components } = plan;
  if (parts.serviceMonitors === undefined) return [];
  const { namespace } = installation;
  const { labels, interval } = parts.serviceMonitors;
  const ca = { configMap: { name: OWN_TLS_CONFIG_MAP, key: 'ca.crt' } };
  return [...components.keys()].map((component) => {
    const serverName = `countersign-${component}.${namespace}.svc`;
    return {
      apiVersion: OPERATOR,
      kind: 'ServiceMonitor',
      metadata: {
        name: `countersign-${component}`,
        namespace,
        labels: { ...labels, ...labelsOf(component) },
      },
      spec: {
        selector: { matchLabels: labelsOf(component) },
        endpoints: [{ port: 'https', scheme: 'https', interval, tlsConfig: { ca, serverName } }],
      },
    };
  });
}

/** Returns a PrometheusRule with the alerts that docs/how-to/install-with-helm.md explains. */
export function alerts({ installation, parts }: InstallationPlan): readonly Manifest[] {
  if (parts.alerts === undefined) return [];
  return [
    {
      apiVersion: OPERATOR,
      kind: 'PrometheusRule',
      metadata: {
        name: 'countersign',
        namespace: installation.namespace,
        labels: { ...parts.alerts.labels, ...LABELS },
      },
      spec: { groups: [{ name: 'countersign', rules: ALERT_RULES }] },
    },
  ];
}

/** Returns a ConfigMap with one key for each dashboard. */
export function dashboards({ installation, parts }: InstallationPlan): readonly Manifest[] {
  if (parts.dashboards === undefined) return [];
  const files = DASHBOARDS.map((each): [string, string] => [
    `countersign-${each.name}.json`,
    `${JSON.stringify(grafanaDashboard(each), null, 1)}\n`,
  ]);
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'countersign-dashboards',
        namespace: installation.namespace,
        labels: { ...parts.dashboards.labels, ...LABELS },
      },
      data: Object.fromEntries(files),
    },
  ];
}
