// SPDX-License-Identifier: Apache-2.0
/** Renders the files of rbac/ and deploy/ from src/install, for the names of the demo. */
import packageJson from '../package.json' with { type: 'json' };
import { CERT_MANAGER_NAMESPACE } from '#api/operator/cert-manager-deployment.ts';
import { certManagerOperatorManifests } from '#install/cert-manager-operator/installed.ts';
import { operatorManifests } from '#install/operator/installed.ts';
import { DEMO, DEMO_PLAN, DEMO_SIGNERS } from './demo-installation.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { installationFiles } from '#install/files.ts';
import { ownTlsOf } from '#install/workloads/own-tls.ts';
import { documentsOf } from '#install/documents.ts';

const PRINTED = `# SPDX-License-Identifier: Apache-2.0
# Printed by countersign rbac. Names are spelled out: print it again for other names.
`;

/** Path of a file of an installation, and its first comment. */
const PLACES: Readonly<Record<string, readonly [path: string, comment: string]>> = {
  'namespaces.yaml': [
    'deploy/namespaces.yaml',
    `Keys live apart: who may create Secrets beside ServiceAccounts can mint their tokens, and the
authority must create Secrets. Nothing of ours runs in countersign-keys, and nothing else should.`,
  ],
  'flow-control.yaml': [
    'deploy/flow-control/countersign.yaml',
    `API priority and fairness: a place of our own in the API server's line. Without it the components
share workload-low with every ServiceAccount of the cluster, and a controller gone wild makes pods
wait for their certificates; nor can a storm of requests to us take the others' seats.`,
  ],
  'own-tls.yaml': [
    'deploy/own-tls.yaml',
    `The components' HTTPS ports: a Service each, a Secret each that authority fills in once the
ClusterSigner of deploy/examples/serving.yaml is there, and the ConfigMap with the CA for those who
scrape. Made empty here, and never by authority: who may create Secrets beside ServiceAccounts can
mint their tokens. No data: applying this again leaves what was filled in. For certificates of
another tool take the annotation filled-by away.`,
  ],
  'deployments.yaml': [
    'deploy/deployments.yaml',
    'One image, one Deployment a component: each has its own ServiceAccount, and only its own rights.',
  ],
  'disruption-budgets.yaml': [
    'deploy/disruption-budgets.yaml',
    'Whoever drains nodes leaves one replica of each component at work.',
  ],
  'serving-signer.yaml': [
    'deploy/examples/serving.yaml',
    `The certificates of the components' own HTTPS ports: authority signs them with the CA of the
ClusterSigner that has this signer name, and fills in the Secrets and the ConfigMap of
deploy/own-tls.yaml. Nobody else can ask for one: there are neither pods nor requests in the spec.`,
  ],
  'network-policy.yaml': [
    'deploy/examples/network-policy.yaml',
    `Only Prometheus in the namespace monitoring reaches the components, at the port with TLS
(--listen-https=:8443). It closes the other ports: do not apply it beside acme-responder, ledger or
bundle-endpoint, whose clients need them. Most network plugins always let the probes of kubelets
in. If yours does not, allow port 8080 from the addresses of your nodes.`,
  ],
  'service-monitors.yaml': [
    'deploy/monitoring/service-monitors.yaml',
    'For the Prometheus Operator: a ServiceMonitor a component, since each has its own server name.',
  ],
  'alerts.yaml': [
    'deploy/monitoring/alerts.yaml',
    'For the Prometheus Operator: what to wake somebody for.',
  ],
  'dashboards.yaml': [
    'deploy/monitoring/dashboards.yaml',
    'For the sidecar of Grafana, which reads ConfigMaps with this label; or import a value of data by hand.',
  ],
};

/** Returns texts by path from the root. */
export function deployFiles(): ReadonlyMap<string, string> {
  // For every component: those that are added to deploy/ later need no other objects.
  const ports = ownTlsOf(DEMO_PLAN, [...COMPONENTS.keys()]);
  const all = new Map([...installationFiles(DEMO_PLAN), ['own-tls.yaml', ports] as const]);
  const files = [...all].map(([file, manifests]): [string, string] => {
    const [path, comment] = PLACES[file] ?? [];
    const text = documentsOf(manifests);
    if (path !== undefined) return [path, `${headerOf(comment ?? '')}${text}`];
    return [file.startsWith('rbac/') ? file : `deploy/${file}`, PRINTED + text];
  });
  return new Map([...files, ...operatorFiles(), ...certManagerFiles()]);
}

/** Renders the operator for the same names, which replaces all other files. */
function operatorFiles(): readonly (readonly [string, string])[] {
  const spec = { version: packageJson.version, signers: DEMO_SIGNERS };
  const countersign = {
    apiVersion: 'operator.countersign.dev/v1alpha1',
    kind: 'Countersign',
    metadata: { name: 'cluster' },
    spec,
  };
  const release = {
    namespace: DEMO.namespace,
    keysNamespace: DEMO_PLAN.keysNamespace,
    image: 'countersign',
    allowedImages: [],
    dangerZone: false,
    version: packageJson.version,
  };
  const roles = `What an administrator applies so that the operator can install the rest: namespaces, its roles, who may
write a Countersign, its Deployment. For your own names: countersign rbac --operator <file>.`;
  return [
    [
      'deploy/operator/operator.yaml',
      headerOf(roles) + documentsOf(operatorManifests(spec, release)),
    ],
    [
      'deploy/operator/countersign.yaml',
      headerOf('The installation, for the names of deploy/examples.') + documentsOf([countersign]),
    ],
  ];
}

/** Renders the operator of cert-manager, which users apply separately. */
function certManagerFiles(): readonly (readonly [string, string])[] {
  const manifests = certManagerOperatorManifests({
    namespace: CERT_MANAGER_NAMESPACE,
    image: 'countersign',
    version: packageJson.version,
    moreReleases: {},
    dangerZone: false,
  });
  const about = `What an administrator applies so that the operator can install cert-manager: a namespace of its own, its
roles, who may write its object, its Deployment. Whoever holds its token reads every Secret. countersign rbac --cert-manager-operator prints the same.`;
  return [['deploy/operator/cert-manager-operator.yaml', headerOf(about) + documentsOf(manifests)]];
}

function headerOf(comment: string): string {
  const made = 'Made from src/install by make deploy.';
  const lines = ['SPDX-License-Identifier: Apache-2.0', ...comment.split('\n'), made];
  return lines.map((line) => `# ${line}\n`).join('');
}
