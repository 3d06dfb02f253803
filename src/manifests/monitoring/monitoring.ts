// SPDX-License-Identifier: Apache-2.0
/** Who may reach the metrics, who collects them, and what to wake somebody for. All of it is opt-in. */
import { OWN_TLS_CONFIG_MAP } from '../../api/signer/own-tls.ts';
import type { InstallationPlan } from '../installation-plan.ts';
import { LABELS, labelsOf } from '../names.ts';
import type { Manifest } from '../roles.ts';
import { ALERT_RULES } from './alert-rules.ts';
import { grafanaDashboard } from './dashboards.ts';
import { OPTIONAL_COMPONENTS } from './optional-panels.ts';
import { OVERVIEW } from './panels.ts';

const DASHBOARDS = [OVERVIEW, OPTIONAL_COMPONENTS];

const OPERATOR = 'monitoring.coreos.com/v1';

/** Only the peers reach the port with TLS. Kubelets probe from the node, which most network plugins let in. */
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
        ingress: [{ from: parts.networkPolicy.from, ports: [{ port: 8443 }] }],
      },
    },
  ];
}

/** Whom `federation` may call: whoever takes it over could else call any host. */
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

/** A ServiceMonitor a component, since each has a server name of its own. */
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

/** A PrometheusRule with the alerts that docs/how-to/install-with-helm.md explains. */
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

/** A ConfigMap with the dashboards, one a key. */
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
