// SPDX-License-Identifier: Apache-2.0
import { resource, type Resource } from '#kube/resource/resource.ts';
import type { ManagedObject } from './managed-object.ts';

/** The steps of a pass in their order. Each object comes after what it needs. */
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

/** The treatment of objects of one kind. */
export interface KindRule {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: Resource;
  readonly step: (typeof STEPS)[number];
  /** `made`: created if missing, and never changed. `merged`: desired fields are restored. */
  readonly care: 'made' | 'merged';
  /**
   * Whether the garbage collector removes it with its owner. False for everything that holds keys
   * or trust.
   */
  readonly owned: boolean;
  /** Fields, by their path, from which the operator removes what others added. */
  readonly exact: readonly (readonly string[])[];
  /**
   * Fields within `exact` that others fill in, by their path. `*` stands for each item of a list. A
   * live value stays unless another one is desired.
   */
  readonly others: readonly (readonly string[])[];
  /**
   * A field that only a cluster-admin may change or remove. An object that has it is deleted and
   * created again.
   */
  readonly remadeFor?: string;
  /**
   * What the operator watches: objects with its label, all of a namespace, or one object by its
   * name.
   */
  readonly watched: 'labelled' | 'namespace' | 'name';
  /** Metadata suffices to know that it exists: its data is never read. */
  readonly metadataOnly?: boolean;
}

/** The whole object except its metadata, its status, and what {@link KindRule.others} names. */
const SPEC = [['spec']];

const WEBHOOKS: Partial<KindRule> = {
  exact: [['webhooks']],
  others: [['webhooks', '*', 'clientConfig', 'caBundle']],
};

type Row = readonly [
  apiVersion: string,
  kind: string,
  plural: string,
  step: KindRule['step'],
  more?: Partial<KindRule>,
];

/**
 * User, groups and SELinux label of pods and containers, which the admission of a cluster may set,
 * as OpenShift's does. Root stays out: `runAsNonRoot` is desired.
 */
const POD_TEMPLATE = ['spec', 'template', 'spec'];
const IDS: readonly (readonly string[])[] = [
  ...['runAsUser', 'runAsGroup', 'fsGroup', 'supplementalGroups', 'seLinuxOptions'].map((each) => [
    ...POD_TEMPLATE,
    'securityContext',
    each,
  ]),
  ...['containers', 'initContainers'].flatMap((list) =>
    ['runAsUser', 'runAsGroup', 'seLinuxOptions'].map((each) => [
      ...POD_TEMPLATE,
      list,
      '*',
      'securityContext',
      each,
    ]),
  ),
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
    {
      owned: false,
      exact: SPEC,
      others: [['spec', 'conversion', 'webhook', 'clientConfig', 'caBundle']],
    },
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
    { exact: SPEC },
  ],
  [
    ADMISSION,
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
    'policies',
    { exact: SPEC },
  ],
  [ADMISSION, 'MutatingAdmissionPolicy', 'mutatingadmissionpolicies', 'policies', { exact: SPEC }],
  [
    ADMISSION,
    'MutatingAdmissionPolicyBinding',
    'mutatingadmissionpolicybindings',
    'policies',
    { exact: SPEC },
  ],
  ['networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', 'policies', { exact: SPEC }],
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
  [
    FLOW_CONTROL,
    'PriorityLevelConfiguration',
    'prioritylevelconfigurations',
    'settings',
    { exact: SPEC },
  ],
  [FLOW_CONTROL, 'FlowSchema', 'flowschemas', 'settings', { exact: SPEC }],
  [
    'apps/v1',
    'Deployment',
    'deployments',
    'workloads',
    {
      exact: SPEC,
      others: [
        // `kubectl rollout restart` writes an annotation of the template.
        ['spec', 'template', 'metadata'],
        // The old name of serviceAccountName, which the API server keeps equal.
        ['spec', 'template', 'spec', 'serviceAccount'],
        ...IDS,
      ],
    },
  ],
  [
    'v1',
    'Service',
    'services',
    'services',
    // The API server allocates these by the IP families of the cluster.
    {
      exact: SPEC,
      others: ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].map((each) => [
        'spec',
        each,
      ]),
    },
  ],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 'services', { exact: SPEC }],
  [MONITORING, 'ServiceMonitor', 'servicemonitors', 'services', { exact: SPEC }],
  [MONITORING, 'PrometheusRule', 'prometheusrules', 'services', { exact: SPEC }],
  [
    'countersign.dev/v1alpha1',
    'ClusterSigner',
    'clustersigners',
    'signers',
    // `authority taint` writes here which CAs are distrusted. To trust one again would be worse
    // than any drift.
    { owned: false, exact: SPEC, others: [['spec', 'authority', 'managed', 'distrusted']] },
  ],
  // The server of a webhook or an API writes its CA into these.
  [
    ADMISSION,
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
    'webhooks',
    WEBHOOKS,
  ],
  [
    ADMISSION,
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
    'webhooks',
    WEBHOOKS,
  ],
  [
    'apiregistration.k8s.io/v1',
    'APIService',
    'apiservices',
    'webhooks',
    { exact: SPEC, others: [['spec', 'caBundle']] },
  ],
];

const KINDS: ReadonlyMap<string, KindRule> = new Map(
  ROWS.map(([apiVersion, kind, plural, step, more = {}]) => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const rule: KindRule = {
      apiVersion,
      kind,
      step,
      resource: resource({ group: group ?? '', version: version ?? '', plural }),
      care: 'merged',
      owned: true,
      exact: [],
      others: [],
      watched: 'labelled',
      ...more,
    };
    return [`${apiVersion} ${kind}`, rule];
  }),
);

/** Returns all rules. */
export function kindRules(): readonly KindRule[] {
  return [...KINDS.values()];
}

/** Reports whether the operator can maintain objects of this kind. */
export function isKnownKind({
  apiVersion,
  kind,
}: Pick<ManagedObject, 'apiVersion' | 'kind'>): boolean {
  return KINDS.has(`${apiVersion} ${kind}`);
}

/**
 * Returns the treatment of objects of this kind.
 *
 * @throws TypeError for a kind that is not in the table
 */
export function ruleOf({ apiVersion, kind }: Pick<ManagedObject, 'apiVersion' | 'kind'>): KindRule {
  const rule = KINDS.get(`${apiVersion} ${kind}`);
  if (rule === undefined) throw new TypeError(`${apiVersion} ${kind} is in no table of kinds`);
  return rule;
}

/** Returns the index of an object's step in {@link STEPS}. */
export function stepIndexOf(object: Pick<ManagedObject, 'apiVersion' | 'kind'>): number {
  return STEPS.indexOf(ruleOf(object).step);
}
