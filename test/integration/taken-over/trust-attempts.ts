// SPDX-License-Identifier: Apache-2.0
/**
 * What `trust-distributor` tries that was taken over, in a namespace that opted in and in one that
 * did not.
 */
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import type { Call } from './attempts.ts';
import { OPTED_IN, NOT_OPTED_IN } from './refresh-attempts.ts';

/** A ConfigMap of its own, which is in both namespaces, and somebody's own of a name of its own. */
const COPY = 'example.com.workload.primary';
const OWNED = 'countersign.dev.serving.primary';

/**
 * What Signers publish; it is in both namespaces, and the Secret of a Signer was granted in the
 * first.
 */
const OF_SIGNERS = 'signers.countersign.dev';

const SIGNER_NAME = 'countersign.dev/signer-name';

function patch(name: string, body: Readonly<Record<string, unknown>>, namespace = OPTED_IN): Call {
  return { verb: 'patch', path: `/api/v1/namespaces/${namespace}/configmaps/${name}`, body };
}

const ANCHORS = { data: { 'ca.crt': 'x' } };

/** The one change that it may make. */
export const WRITE_ANCHORS = patch(COPY, ANCHORS);

/** What Signers publish, where an administrator granted the Secret of one. */
export const WRITE_SIGNER_ANCHORS = patch(OF_SIGNERS, { data: { 'web.crt': 'x' } });

const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

/** What it is named: its owners annotated the first and the last. */
export const NAMED: readonly CaBundleTarget[] = [
  { resource: 'apiservices', name: 'v1.named.example.org' },
  { resource: 'apiservices', name: 'v1.unasked.example.org' },
  { resource: 'customresourcedefinitions', name: 'things.defined.example.org' },
];

/** The one change of an APIService that it may make. */
export const WRITE_CA_BUNDLE: Call = {
  verb: 'patch',
  path: `${API_SERVICES}/v1.named.example.org`,
  body: { spec: { caBundle: '' } },
};

/** What has to be there of these. */
export function namedObjects(): readonly Record<string, unknown>[] {
  const annotations = { [SIGNER_NAME]: 'example.com/workload' };
  const service = (group: string, more: object): Record<string, unknown> => ({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1.${group}`, ...more },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: OPTED_IN, name: 'api' },
    },
  });
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const schema = { openAPIV3Schema: { type: 'object' } };
  return [
    service('named.example.org', { annotations }),
    service('unasked.example.org', {}),
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.defined.example.org', annotations },
      spec: {
        group: 'defined.example.org',
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  ];
}

/** What has to be there. */
export function configMapsOf(namespace: string): readonly Record<string, unknown>[] {
  const of = (name: string, annotations: object): Record<string, unknown> => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name, annotations },
  });
  return [
    of(COPY, { [SIGNER_NAME]: 'example.com/workload' }),
    of(OWNED, {}),
    of(OF_SIGNERS, { [SIGNER_NAME]: OF_SIGNERS }),
  ];
}

export const BY_TRUST_DISTRIBUTOR: Readonly<Record<string, Call>> = {
  'write a ConfigMap of another name': patch('kube-root-ca.crt', ANCHORS),
  'read a ConfigMap of another name': {
    verb: 'get',
    path: `/api/v1/namespaces/${OPTED_IN}/configmaps/kube-root-ca.crt`,
  },
  'write a ConfigMap in a namespace that did not opt in': patch(COPY, ANCHORS, NOT_OPTED_IN),
  'take over a ConfigMap that its owner did not annotate': patch(OWNED, {
    metadata: { annotations: { [SIGNER_NAME]: 'countersign.dev/serving' } },
  }),
  'delete a ConfigMap that its owner did not annotate': {
    verb: 'delete',
    path: `/api/v1/namespaces/${OPTED_IN}/configmaps/${OWNED}`,
  },
  'say that a ConfigMap has the anchors of another signer': patch(COPY, {
    metadata: { annotations: { [SIGNER_NAME]: 'example.com/people' } },
  }),
  'give a ConfigMap an owner': patch(COPY, {
    metadata: {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }],
    },
  }),
  'make a ConfigMap immutable': patch(COPY, { immutable: true }),
  'write another key into a ConfigMap than that of the anchors': patch(COPY, {
    data: { 'run.sh': 'x' },
  }),
  'write the ConfigMap of Signers where no Secret of one was granted': patch(
    OF_SIGNERS,
    { data: { 'web.crt': 'x' } },
    NOT_OPTED_IN,
  ),
  'write another key into the ConfigMap of Signers than those of anchors': patch(OF_SIGNERS, {
    data: { 'run.sh': 'x' },
  }),
  'give the ConfigMap of Signers an owner that is no Signer': patch(OF_SIGNERS, {
    metadata: {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }],
    },
  }),
  'lead the API server to another server for an API': {
    verb: 'patch',
    path: `${API_SERVICES}/v1.named.example.org`,
    body: { spec: { service: { namespace: NOT_OPTED_IN, name: 'mine' } } },
  },
  'have the API server call an API without TLS verification': {
    verb: 'patch',
    path: `${API_SERVICES}/v1.named.example.org`,
    body: { spec: { caBundle: null, insecureSkipTLSVerify: true } },
  },
  'write the caBundle of an APIService that its owner did not annotate': {
    verb: 'patch',
    path: `${API_SERVICES}/v1.unasked.example.org`,
    body: { spec: { caBundle: '' } },
  },
  'change the schema of a CustomResourceDefinition': {
    verb: 'patch',
    path: `${DEFINITIONS}/things.defined.example.org`,
    body: {
      spec: {
        versions: [
          {
            name: 'v1',
            served: false,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    },
  },
  'give a CustomResourceDefinition another conversion webhook': {
    verb: 'patch',
    path: `${DEFINITIONS}/things.defined.example.org`,
    body: {
      spec: {
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { namespace: NOT_OPTED_IN, name: 'mine' } },
          },
        },
      },
    },
  },
  'write the caBundle of a webhook that it is not named': {
    verb: 'patch',
    path: `${WEBHOOKS}/somebodys`,
    body: { metadata: { labels: { a: 'b' } } },
  },
  'label a namespace': {
    verb: 'patch',
    path: `/api/v1/namespaces/${NOT_OPTED_IN}`,
    body: { metadata: { labels: { 'countersign.dev/trust': 'enabled' } } },
  },
};
