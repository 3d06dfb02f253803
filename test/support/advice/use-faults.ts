// SPDX-License-Identifier: Apache-2.0
/** Faults of what people and other programs make beside an installation. */
import { podObject } from '../cluster/pods.ts';
import { EVERY_WAY, type Fault } from './fault.ts';
import { NODE, TEAM } from './names.ts';
import { otherSigner } from './signers.ts';

/** A command that applies objects. */
function applied(...items: readonly object[]): string {
  return `kubectl apply -f - <<'END'\n${JSON.stringify({ apiVersion: 'v1', kind: 'List', items })}\nEND`;
}

/** ClusterSigners and their CAs. */
export const SIGNER_FAULTS: readonly Fault[] = [
  {
    name: 'an expression is misspelt',
    broken: `kubectl patch clustersigner workload --type=json -p '[{"op":"replace","path":"/spec/pods/allow","value":"pod.nonsense =="}]'`,
    named:
      /^signers-ready: clustersigner\/workload: InvalidSpec: spec\.pods\.allow: line 1, column 16/,
    edited: 's/pod\\.nonsense ==/pod.namespace.startsWith("team-")/',
  },
  {
    name: 'the owner of a CA Secret takes the consent away',
    broken: 'kubectl -n countersign-keys annotate secret people-ca countersign.dev/signer-name-',
    named: /^signers-ready: clustersigner\/people: SecretNotGranted: /,
  },
  {
    name: 'two ClusterSigners have one signer name',
    broken: applied(otherSigner('twice', { signerName: 'example.com/workload' })),
    named:
      /^signers-ready: clustersigner\/twice: SignerNameTaken: ClusterSigner "workload" is older/,
  },
  {
    name: 'the values do not name a ClusterSigner',
    broken: applied(otherSigner('unlisted')),
    named: /^signers-listed: clustersigner\/unlisted: no role names example\.com\/unlisted/,
    values: '.signers += [{"name":"example.com/unlisted"}]',
    cleared: 'kubectl delete clustersigner unlisted',
  },
];

const POD = podObject({
  namespace: TEAM,
  name: 'web',
  serviceAccount: 'web',
  node: NODE,
  signerName: 'example.com/named',
  keyType: 'ED25519',
}) as { metadata: object; spec: object };
/** Bound to its node by hand: the scheduler leaves a cordoned one alone. */
const BOUND_POD = {
  ...POD,
  metadata: { ...POD.metadata, labels: { app: 'web' } },
  spec: { ...POD.spec, nodeName: NODE, nodeSelector: {} },
};
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: TEAM },
  spec: { selector: { app: 'wbe' }, ports: [{ port: 443 }] },
};
const QUOTA = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'none', namespace: TEAM },
  spec: { hard: { 'count/podcertificaterequests.certificates.k8s.io': '0' } },
};
const MISSPELT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'misspelt', namespace: TEAM },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'misspelt' } },
    template: {
      metadata: {
        labels: { app: 'misspelt' },
        annotations: { 'countersign.dev/injct': 'example.com/workload' },
      },
      spec: { containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }] },
    },
  },
};

const WRONG_VALUE = {
  ...MISSPELT,
  metadata: {
    name: 'wrong-value',
    namespace: TEAM,
    annotations: { 'countersign.dev/refresh': 'restrat' },
  },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'wrong-value' } },
    template: {
      metadata: { labels: { app: 'wrong-value' } },
      spec: { containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.10' }] },
    },
  },
};

/** Pods, and what decides about their certificates. */
export const POD_FAULTS: readonly Fault[] = [
  {
    name: 'a quota allows no requests',
    broken: `${applied(QUOTA)}\nkubectl wait -n ${TEAM} resourcequota none --for=jsonpath=.status.hard\n${applied(SERVICE, BOUND_POD)}`,
    asked: `countersign explain pod/web -n ${TEAM}`,
    named: /^pod\/web in namespace team-advice: \w+ .*ResourceQuota none of the namespace allows 0/,
    right: `kubectl -n ${TEAM} get pod web -o jsonpath={.status.phase} | grep -x Running`,
    cleared: `kubectl -n ${TEAM} delete resourcequota none && kubectl -n ${TEAM} delete pod web --force`,
  },
  {
    name: 'a Service selects no pod',
    broken: 'true',
    named: /^services-select: clustersigner\/named: 1 pod \(team-advice\/web\): no Service selects/,
    edited: 's/app: wbe/app: web/',
    cleared: `kubectl -n ${TEAM} delete service web`,
  },
  {
    name: 'the key of an annotation is misspelt',
    broken: applied(MISSPELT),
    named:
      /^annotations-known: deployment\/misspelt in namespace team-advice: .*countersign\.dev\/injct/,
    cleared: `kubectl -n ${TEAM} delete deployment misspelt`,
  },
  {
    name: 'the value of an annotation is misspelt',
    broken: applied(WRONG_VALUE),
    named:
      /^annotations-known: deployment\/wrong-value in namespace team-advice: .*refresh is "restrat"/,
    cleared: `kubectl -n ${TEAM} delete deployment wrong-value`,
  },
];

const NO_PODS = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'no-pods', namespace: 'countersign-system' },
  spec: { hard: { pods: '0' } },
};

/** What keeps the pods of components away. */
export const QUOTA_FAULTS: readonly Fault[] = [
  {
    name: 'a quota keeps the pods of a component away',
    broken: [
      applied(NO_PODS),
      'kubectl wait -n countersign-system resourcequota no-pods --for=jsonpath=.status.hard',
      'kubectl -n countersign-system delete pods --wait=false -l app.kubernetes.io/component=attester',
    ].join('\n'),
    named:
      /^replicas-available: deployment\/countersign-attester: \d of 2 replicas .*exceeded quota: no-pods/,
    edited: 's/pods: "0"/pods: "100"/',
    cleared: 'kubectl -n countersign-system delete resourcequota no-pods',
  },
];

const OLD_NODE = 'old-1';
const NODE_INFO = Object.fromEntries(
  ['architecture', 'bootID', 'containerRuntimeVersion', 'kernelVersion', 'kubeProxyVersion']
    .concat('machineID', 'operatingSystem', 'osImage', 'systemUUID')
    .map((field) => [field, '']),
);
const OLD_STATUS = { status: { nodeInfo: { ...NODE_INFO, kubeletVersion: 'v1.34.6' } } };
const WEBHOOK = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'broken' },
  webhooks: [
    {
      name: 'broken.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { service: { namespace: TEAM, name: 'nothing' } },
      rules: [
        {
          apiGroups: ['certificates.k8s.io'],
          apiVersions: ['*'],
          resources: ['certificatesigningrequests'],
          operations: ['CREATE'],
        },
      ],
    },
  ],
};
const API_SERVICE = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1alpha1.ledger.countersign.dev' },
  spec: {
    group: 'ledger.countersign.dev',
    version: 'v1alpha1',
    groupPriorityMinimum: 1000,
    versionPriority: 10,
    insecureSkipTLSVerify: true,
    service: { namespace: 'countersign-system', name: 'countersign-ledger' },
  },
};

/** The cluster around it. */
export const CLUSTER_FAULTS: readonly Fault[] = [
  {
    name: 'a webhook without a server fails closed',
    broken: applied(WEBHOOK),
    named:
      /^foreign-webhooks: \S+\/broken: .*its Service team-advice\/nothing has no ready endpoint/,
    edited: 's/failurePolicy: Fail/failurePolicy: Ignore/',
    cleared: 'kubectl delete validatingwebhookconfiguration broken',
  },
  {
    name: 'an APIService is left over from a ledger',
    broken: applied(API_SERVICE),
    named:
      /^api-services-available: apiservice\/v1alpha1\.ledger\.countersign\.dev: it is not Avail/,
  },
  {
    name: 'a node has an older kubelet',
    broken: `${applied({ apiVersion: 'v1', kind: 'Node', metadata: { name: OLD_NODE } })}\nkubectl patch node ${OLD_NODE} --subresource=status --type=merge -p '${JSON.stringify(OLD_STATUS)}'`,
    named: /^kubelet-versions: node\/old-1: the kubelet is v1\.34\.6/,
    cleared: `kubectl delete node ${OLD_NODE}`,
  },
  {
    name: 'the key of a CA of your own is garbage',
    broken: `kubectl -n countersign-keys patch secret people-ca --type=merge -p '{"data":{"tls.key":"Z2FyYmFnZQ=="}}'`,
    named: /^ca-usable: clustersigner\/people: Secret countersign-keys\/people-ca is unusable: /,
  },
];

const BUNDLE = 'clustertrustbundle example.com:named:primary';
const OTHER_BUNDLE = 'clustertrustbundle example.com:workload:primary';

/** What components put right by themselves. */
export const PASSING_FAULTS: readonly Fault[] = [
  {
    name: 'a bundle is deleted',
    broken: `kubectl delete ${BUNDLE}`,
    healsBy: EVERY_WAY,
    right: `kubectl get ${BUNDLE}`,
  },
  {
    name: 'an anchor of somebody else is in a bundle',
    broken: `kubectl get ${OTHER_BUNDLE} -o json | jq --rawfile other ca.crt '.spec.trustBundle += $other' | kubectl replace -f -`,
    healsBy: EVERY_WAY,
    // A line of its PEM.
    right: `! kubectl get ${OTHER_BUNDLE} -o jsonpath={.spec.trustBundle} | grep -qF "$(sed -n 5p ca.crt)"`,
  },
  {
    name: 'all Leases are deleted',
    broken: 'kubectl -n countersign-system delete leases --all',
    healsBy: EVERY_WAY,
  },
  {
    name: 'the key of a managed CA is garbage',
    broken: `kubectl -n countersign-keys patch secret named-ca --type=merge -p '{"data":{"tls.key":"Z2FyYmFnZQ=="}}'`,
    healsBy: EVERY_WAY,
    right: `kubectl -n countersign-keys get secret named-ca -o jsonpath='{.data.tls\\.key}' | grep -q ....................`,
  },
  {
    name: 'the Secret of a managed CA is deleted',
    broken: 'kubectl -n countersign-keys delete secret workload-ca',
    healsBy: EVERY_WAY,
    right: 'kubectl -n countersign-keys get secret workload-ca',
  },
];

/** The CA of the components' own ports, which some ways of installing do not bring. */
const WITH_SERVING =
  'kubectl apply -f deploy/examples/serving.yaml\nkubectl wait clustersigner serving --for=condition=Ready --timeout=60s';
const SERVING_KEY = `kubectl -n countersign-keys get secret countersign-serving-ca -o jsonpath='{.data.tls\\.key}'`;

export const OWN_PORT_FAULTS: readonly Fault[] = [
  {
    name: "the Secret of the CA of the components' own ports is deleted",
    broken: `${WITH_SERVING}\nkubectl -n countersign-keys delete secret countersign-serving-ca`,
    healsBy: EVERY_WAY,
    right: `${SERVING_KEY} | grep -q ....................`,
  },
];

export const OWN_PORT_KEY_FAULTS: readonly Fault[] = [
  {
    name: "the key of the CA of the components' own ports is garbage",
    broken: `kubectl -n countersign-keys patch secret countersign-serving-ca --type=merge -p '{"data":{"tls.key":"Z2FyYmFnZQ=="}}'`,
    healsBy: EVERY_WAY,
    right: `${SERVING_KEY} | grep -q ....................`,
  },
];

/** Of a CA of your own, nothing is left. */
export const LOST_CA_FAULTS: readonly Fault[] = [
  {
    name: 'the Secret of a CA of your own is deleted',
    broken: 'kubectl -n countersign-keys delete secret people-ca',
    named: /^signers-ready: clustersigner\/people: SecretNotFound: /,
  },
];
