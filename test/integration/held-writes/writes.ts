// SPDX-License-Identifier: Apache-2.0
/**
 * Every object that a component's roles let it change: what it changes of it, and what it would
 * change if it was taken over.
 */
import { ROUTES } from './routes.ts';
import { WORKLOADS } from './workloads.ts';

/** A JSON merge patch (RFC 7396), or a whole object. */
export type Body = Readonly<Record<string, unknown>>;

/** One object, and one component that may write it. */
export interface HeldWrite {
  readonly component: string;
  /** Path of the collection. */
  readonly collection: string;
  /**
   * How its role lets it write: by a patch or a replacement of what is there, or by creating it.
   */
  readonly how: 'patch' | 'replace' | 'create';
  /** What is written: `status`, `approval`. */
  readonly subresource?: string;
  readonly object: Body & { readonly metadata: { readonly name: string } };
  /** What the component itself writes, as a change of the object. */
  readonly allowed: Body;
  /** Changes of metadata that are the component's to make → the reason. */
  readonly free?: Readonly<Partial<Record<keyof typeof METADATA, string>>>;
  /** What else it may not change. */
  readonly refused?: Readonly<Record<string, Body>>;
}

export const SYSTEM = 'countersign-system';
export const KEYS = 'countersign-keys';

/** What a component may do to the metadata of nothing, unless a row says why. */
export const METADATA = {
  'a finalizer': { metadata: { finalizers: ['example.com/stay'] } },
  'an owner that does not exist': {
    metadata: {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }],
    },
  },
  'a label of another controller': { metadata: { labels: { 'grafana.example/load': '1' } } },
  'an annotation of another controller': {
    metadata: { annotations: { 'reflector.example/copy-to': '*' } },
  },
} as const satisfies Readonly<Record<string, Body>>;

const CERTIFICATES = '/apis/certificates.k8s.io/v1';
const WHEN = { lastTransitionTime: '2026-01-01T00:00:00Z' };
const condition = (type: string): Body => ({
  status: { conditions: [{ type, status: 'True', reason: 'Test', message: 'x', ...WHEN }] },
});
const core = (namespace: string, plural: string): string =>
  `/api/v1/namespaces/${namespace}/${plural}`;
const object = (kind: string, name: string, more: Body = {}): HeldWrite['object'] => {
  const { metadata, ...rest } = more;
  return { apiVersion: 'v1', kind, ...rest, metadata: { ...(metadata as object), name } };
};
const own = (labels: object, annotations: object): Body => ({ metadata: { labels, annotations } });
const immutable = { 'that it is immutable': { immutable: true } };
const SIGNER = { 'countersign.dev/signer-name': 'example.com/workload' };

const answers: readonly HeldWrite[] = [
  { component: 'approver', subresource: 'approval', allowed: condition('Approved') },
  { component: 'signer', subresource: 'status', allowed: condition('Failed') },
  { component: 'acme', subresource: 'status', allowed: {} },
].map((each) => ({
  collection: `${CERTIFICATES}/certificatesigningrequests`,
  how: 'replace' as const,
  // The test makes it: it takes a signed request.
  object: object('CertificateSigningRequest', 'held'),
  ...each,
}));

const bundles: readonly HeldWrite[] = [
  {
    component: 'attester',
    collection: `${CERTIFICATES}/clustertrustbundles`,
    how: 'replace',
    object: object('ClusterTrustBundle', 'example.com:workload:primary', {
      apiVersion: 'certificates.k8s.io/v1',
      spec: { signerName: 'example.com/workload' },
    }),
    allowed: own({ 'example.com/by': 'signer' }, { 'countersign.dev/longest-leaf': '1h' }),
    free: { 'a label of another controller': 'the writer of the ClusterSigner chooses them' },
  },
  {
    component: 'federation',
    collection: `${CERTIFICATES}/clustertrustbundles`,
    how: 'patch',
    object: object('ClusterTrustBundle', 'federated.partner.example', {
      apiVersion: 'certificates.k8s.io/v1',
      ...own({}, { 'countersign.dev/trust-domain': 'partner.example' }),
    }),
    allowed: own(
      { 'app.kubernetes.io/managed-by': 'countersign' },
      { 'countersign.dev/spiffe-sequence': '2' },
    ),
  },
];

const authoritysOwn = own(
  { 'countersign.dev/generation': '2' },
  { 'countersign.dev/duration': '24h' },
);
const byAuthority: readonly HeldWrite[] = [
  ...[
    { collection: core(KEYS, 'secrets'), object: object('Secret', 'workload-ca') },
    { collection: core(KEYS, 'secrets'), object: object('Secret', 'account') },
    { collection: core(SYSTEM, 'secrets'), object: object('Secret', 'countersign-signer-serving') },
  ].map((each): HeldWrite => ({
    component: 'authority',
    how: 'patch',
    ...each,
    refused: immutable,
    allowed: { ...authoritysOwn, data: { 'tls.key': 'YQ==' } },
  })),
  ...[
    { collection: core(KEYS, 'configmaps'), object: object('ConfigMap', 'workload-ca-crl') },
    {
      collection: core(SYSTEM, 'configmaps'),
      object: object('ConfigMap', 'countersign-serving-ca'),
    },
  ].map((each): HeldWrite => ({
    component: 'authority',
    how: 'patch',
    ...each,
    refused: immutable,
    allowed: { ...authoritysOwn, binaryData: { a: 'YQ==' } },
  })),
  {
    component: 'authority',
    collection: core(KEYS, 'secrets'),
    how: 'create',
    object: object('Secret', 'people-ca', { type: 'Opaque' }),
    allowed: authoritysOwn,
    refused: immutable,
  },
];

const apiService = (component: string, group: string): HeldWrite => ({
  component,
  how: 'patch',
  collection: '/apis/apiregistration.k8s.io/v1/apiservices',
  object: object('APIService', `v1alpha1.${group}`, {
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { annotations: SIGNER },
    spec: {
      group,
      version: 'v1alpha1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: SYSTEM, name: 'countersign-ledger', port: 443 },
    },
  }),
  allowed: { spec: { caBundle: 'YQ==' } },
  refused: {
    'another server': { spec: { service: { name: 'theirs' } } },
    'another port': { spec: { service: { port: 8443 } } },
    'no verification': { spec: { insecureSkipTLSVerify: true, caBundle: null } },
    'another priority': { spec: { versionPriority: 1 } },
  },
});

const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
const trust: readonly HeldWrite[] = [
  apiService('authority', 'ledger.countersign.dev'),
  apiService('trust-distributor', 'named.example.org'),
  {
    component: 'trust-distributor',
    collection: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    how: 'patch',
    object: object('CustomResourceDefinition', 'things.defined.example.org', {
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { annotations: SIGNER },
      spec: {
        group: 'defined.example.org',
        scope: 'Namespaced',
        names,
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { namespace: SYSTEM, name: 'theirs', port: 443 } },
          },
        },
      },
    }),
    allowed: {},
    refused: {
      'another server': {
        spec: { conversion: { webhook: { clientConfig: { service: { name: 'mine' } } } } },
      },
      'another short name': { spec: { names: { shortNames: ['po'] } } },
    },
  },
  {
    component: 'trust-distributor',
    collection: core('refreshed', 'configmaps'),
    how: 'patch',
    object: object('ConfigMap', 'example.com.workload.primary', {
      metadata: { annotations: SIGNER },
    }),
    allowed: { data: { 'ca.crt': 'x' }, ...own({ 'app.kubernetes.io/managed-by': 'x' }, {}) },
    refused: { ...immutable, 'another key': { data: { 'run.sh': 'x' } } },
  },
];

const beside: readonly HeldWrite[] = [
  {
    component: 'ledger',
    collection: core(SYSTEM, 'secrets'),
    how: 'replace',
    object: object('Secret', 'countersign-ledger-key', { data: { 'previous.key': 'YQ==' } }),
    allowed: { data: { 'log.key': 'YQ==' } },
    refused: { ...immutable, 'the key before': { data: { 'previous.key': 'Yg==' } } },
  },
  ...['countersign-ledger-checkpoints', 'countersign-ledger-findings'].map((name): HeldWrite => ({
    component: 'ledger',
    collection: core(SYSTEM, 'configmaps'),
    how: 'patch',
    object: object('ConfigMap', name),
    allowed: { data: { 'log-1': 'x' } },
    refused: immutable,
  })),
  {
    component: 'notifier',
    collection: core(SYSTEM, 'configmaps'),
    how: 'patch',
    object: object('ConfigMap', 'countersign-notifier'),
    allowed: { data: { 'target.a': '{}' } },
    refused: { ...immutable, 'another key': { data: { a: 'x' } } },
  },
];

export const HELD_WRITES: readonly HeldWrite[] = [
  ...answers,
  ...bundles,
  ...byAuthority,
  ...trust,
  ...beside,
  ...ROUTES,
  ...WORKLOADS,
];
