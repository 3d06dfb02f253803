// SPDX-License-Identifier: Apache-2.0
import { resource, type Resource } from '../../kube/resource/resource.ts';
import type { ManagedObject } from './managed-object.ts';

/** The steps of a pass, in their order: nothing is made before what it needs. */
export const STEPS = [
  'definitions',
  'namespaces',
  'accounts',
  'roles',
  'bindings',
  'policies',
  'settings',
  'workloads',
  'services',
  'signers',
  'webhooks',
] as const;

/** How objects of one kind are treated. */
export interface KindRule {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: Resource;
  readonly step: (typeof STEPS)[number];
  /** `made`: made where it is missing, and never changed. `merged`: desired fields are put back. */
  readonly care: 'made' | 'merged';
  /** Whether the garbage collector removes it with its owner. Nothing that holds keys, or trust, is ever owned. */
  readonly owned: boolean;
  /** Fields, by their path, in which nothing of others stays. */
  readonly exact: readonly (readonly string[])[];
  /** A field that only a cluster-admin may change, or take away: with it, the object is made anew. */
  readonly remadeFor?: string;
  /** What is watched: the objects with our label, all of the namespace, or one by its name. */
  readonly watched: 'labelled' | 'namespace' | 'name';
  /** Its data is never read: metadata is enough to know that it is there. */
  readonly metadataOnly?: boolean;
}

const POD_SPEC = ['spec', 'template', 'spec'];

/** Who runs, as whom, with what and how confined. `serviceAccount` is the old name, which the API server keeps equal. */
const CONFINEMENT = [
  'containers',
  'initContainers',
  'volumes',
  'serviceAccountName',
  'automountServiceAccountToken',
  'securityContext',
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'hostUsers',
  'shareProcessNamespace',
].map((field) => [...POD_SPEC, field]);

type Row = readonly [
  apiVersion: string,
  kind: string,
  plural: string,
  step: KindRule['step'],
  more?: Partial<KindRule>,
];

const RBAC = 'rbac.authorization.k8s.io/v1';
const ADMISSION = 'admissionregistration.k8s.io/v1';
const MONITORING = 'monitoring.coreos.com/v1';
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1';

const ROWS: readonly Row[] = [
  [
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    'definitions',
    { owned: false },
  ],
  ['v1', 'Namespace', 'namespaces', 'namespaces', { care: 'made', owned: false, watched: 'name' }],
  ['v1', 'ServiceAccount', 'serviceaccounts', 'accounts', { care: 'made', watched: 'namespace' }],
  [RBAC, 'Role', 'roles', 'roles', { exact: [['rules']] }],
  [
    RBAC,
    'ClusterRole',
    'clusterroles',
    'roles',
    { exact: [['rules']], remadeFor: 'aggregationRule' },
  ],
  [RBAC, 'RoleBinding', 'rolebindings', 'bindings', { exact: [['subjects']] }],
  [RBAC, 'ClusterRoleBinding', 'clusterrolebindings', 'bindings', { exact: [['subjects']] }],
  [
    ADMISSION,
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
    'policies',
    { exact: [['spec']] },
  ],
  [
    ADMISSION,
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    'policies',
    { exact: [['spec']] },
  ],
  ['networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', 'policies', { exact: [['spec']] }],
  [
    'v1',
    'Secret',
    'secrets',
    'settings',
    { care: 'made', owned: false, watched: 'name', metadataOnly: true },
  ],
  [
    'v1',
    'ConfigMap',
    'configmaps',
    'settings',
    { care: 'made', owned: false, watched: 'name', metadataOnly: true },
  ],
  [
    'v1',
    'PersistentVolumeClaim',
    'persistentvolumeclaims',
    'settings',
    { care: 'made', owned: false, watched: 'name', metadataOnly: true },
  ],
  [FLOW_CONTROL, 'PriorityLevelConfiguration', 'prioritylevelconfigurations', 'settings'],
  [FLOW_CONTROL, 'FlowSchema', 'flowschemas', 'settings'],
  ['apps/v1', 'Deployment', 'deployments', 'workloads', { exact: CONFINEMENT }],
  ['v1', 'Service', 'services', 'services'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'services'],
  [MONITORING, 'ServiceMonitor', 'servicemonitors', 'services'],
  [MONITORING, 'PrometheusRule', 'prometheusrules', 'services'],
  ['countersign.dev/v1alpha1', 'ClusterSigner', 'clustersigners', 'signers', { owned: false }],
  // Merged: who serves a webhook or an API puts its CA into them.
  [ADMISSION, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', 'webhooks'],
  [ADMISSION, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', 'webhooks'],
  ['apiregistration.k8s.io/v1', 'APIService', 'apiservices', 'webhooks'],
];

const KINDS: ReadonlyMap<string, KindRule> = new Map(
  ROWS.map(([apiVersion, kind, plural, step, more = {}]) => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const rule: KindRule = {
      ...{ apiVersion, kind, step },
      resource: resource({ group: group ?? '', version: version ?? '', plural }),
      ...{ care: 'merged', owned: true, exact: [], watched: 'labelled' },
      ...more,
    };
    return [`${apiVersion} ${kind}`, rule];
  }),
);

/** All of the table. */
export function kindRules(): readonly KindRule[] {
  return [...KINDS.values()];
}

/** Whether objects of this kind can be kept as they are desired. */
export function isKnownKind({
  apiVersion,
  kind,
}: Pick<ManagedObject, 'apiVersion' | 'kind'>): boolean {
  return KINDS.has(`${apiVersion} ${kind}`);
}

/**
 * How objects of this kind are treated.
 *
 * @throws TypeError for a kind that is not in the table
 */
export function ruleOf({ apiVersion, kind }: Pick<ManagedObject, 'apiVersion' | 'kind'>): KindRule {
  const rule = KINDS.get(`${apiVersion} ${kind}`);
  if (rule === undefined) throw new TypeError(`${apiVersion} ${kind} is in no table of kinds`);
  return rule;
}
