// SPDX-License-Identifier: Apache-2.0
/** What `trust-distributor` tries that was taken over, in a namespace that opted in and in one that did not. */
import type { Call } from './attempts.ts';
import { OPTED_IN, NOT_OPTED_IN } from './refresh-attempts.ts';

/** A ConfigMap of its own, which is in both namespaces, and somebody's own of a name of its own. */
const COPY = 'example.com.workload.primary';
const OWNED = 'countersign.dev.serving.primary';

const SIGNER_NAME = 'countersign.dev/signer-name';

function patch(name: string, body: Readonly<Record<string, unknown>>, namespace = OPTED_IN): Call {
  return { verb: 'patch', path: `/api/v1/namespaces/${namespace}/configmaps/${name}`, body };
}

const ANCHORS = { data: { 'ca.crt': 'x' } };

/** The one change that it may make. */
export const WRITE_ANCHORS = patch(COPY, ANCHORS);

/** What has to be there. */
export function configMapsOf(namespace: string): readonly Record<string, unknown>[] {
  const of = (name: string, annotations: object): Record<string, unknown> => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { namespace, name, annotations },
  });
  return [of(COPY, { [SIGNER_NAME]: 'example.com/workload' }), of(OWNED, {})];
}

export const BY_TRUST_DISTRIBUTOR: Readonly<Record<string, Call>> = {
  'write a ConfigMap of another name': patch('kube-root-ca.crt', ANCHORS),
  'read a ConfigMap of another name': {
    ...{ verb: 'get', path: `/api/v1/namespaces/${OPTED_IN}/configmaps/kube-root-ca.crt` },
  },
  'write a ConfigMap in a namespace that did not opt in': patch(COPY, ANCHORS, NOT_OPTED_IN),
  'take over a ConfigMap that its owner did not annotate': patch(OWNED, {
    metadata: { annotations: { [SIGNER_NAME]: 'countersign.dev/serving' } },
  }),
  'delete a ConfigMap that its owner did not annotate': {
    ...{ verb: 'delete', path: `/api/v1/namespaces/${OPTED_IN}/configmaps/${OWNED}` },
  },
  'say that a ConfigMap has the anchors of another signer': patch(COPY, {
    metadata: { annotations: { [SIGNER_NAME]: 'example.com/people' } },
  }),
  'give a ConfigMap an owner': patch(COPY, {
    metadata: {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }],
    },
  }),
  'write another key into a ConfigMap than that of the anchors': patch(COPY, {
    data: { 'run.sh': 'x' },
  }),
  'label a namespace': {
    ...{ verb: 'patch', path: `/api/v1/namespaces/${NOT_OPTED_IN}` },
    body: { metadata: { labels: { 'countersign.dev/trust': 'enabled' } } },
  },
};
