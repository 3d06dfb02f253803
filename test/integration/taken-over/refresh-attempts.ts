// SPDX-License-Identifier: Apache-2.0
/**
 * What `pod-refresher` tries that was taken over, on workloads which opted in and others that did
 * not.
 */
import type { Call } from './attempts.ts';

/** A namespace that opted in, and one that did not. */
export const OPTED_IN = 'refreshed';
export const NOT_OPTED_IN = 'left-alone';

const workloads = (namespace: string): string =>
  `/apis/apps/v1/namespaces/${namespace}/deployments`;
const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

const CERTIFICATES = 'countersign.dev/certificates';
/** What it does every day. */
const restart = { spec: { template: { metadata: { annotations: { [CERTIFICATES]: 'x' } } } } };

function patch(name: string, body: Readonly<Record<string, unknown>>, namespace = OPTED_IN): Call {
  return { verb: 'patch', path: `${workloads(namespace)}/${name}`, body };
}

function evict(namespace: string, preconditions: object, more: object = {}): Call {
  return {
    verb: 'create',
    path: `${pods(namespace)}/web/eviction`,
    body: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'web', namespace },
      deleteOptions: { preconditions, ...more },
    },
  };
}

/** The one change that it may make. */
export const RESTART = patch('opted-in', {
  metadata: { labels: { 'countersign.dev/restarted-at': '20260101T000000Z' } },
  ...restart,
});

/** A Deployment, which opted in or not, without pods. */
export function deploymentOf(namespace: string, name: string, refresh: string): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, annotations: { 'countersign.dev/refresh': refresh } },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { 'example.com/kept': 'x' } },
        spec: { containers: [{ name: 'main', image: 'example.com/web' }] },
      },
    },
  };
}

export const WORKLOAD_ATTEMPTS: Readonly<Record<string, Call>> = {
  'restart a workload that did not opt in': patch('opted-out', restart),
  'restart a workload of a namespace that did not opt in': patch('opted-in', restart, NOT_OPTED_IN),
  'opt a workload in': patch('opted-out', {
    metadata: { annotations: { 'countersign.dev/refresh': 'secrets' } },
  }),
  'change the pods of a workload': patch('opted-in', {
    spec: {
      template: { spec: { containers: [{ name: 'main', image: 'example.com/attack' }] } },
    },
  }),
  'scale a workload': patch('opted-in', { spec: { replicas: 3 } }),
  'pause a rollout': patch('opted-in', { spec: { paused: true } }),
  'write another annotation of a pod template': patch('opted-in', {
    spec: { template: { metadata: { annotations: { 'example.com/attack': 'x' } } } },
  }),
  'take away an annotation of a pod template': patch('opted-in', {
    spec: { template: { metadata: { annotations: { 'example.com/kept': null } } } },
  }),
  'give the pods of a workload a finalizer': patch('opted-in', {
    spec: { template: { metadata: { finalizers: ['example.com/stay'] } } },
  }),
  'give the pods of a workload an owner or a name': patch('opted-in', {
    spec: { template: { metadata: { name: 'x' } } },
  }),
  'write another label of a workload': patch('opted-in', {
    metadata: { labels: { 'example.com/attack': '' } },
  }),
  'give a workload an owner': patch('opted-in', {
    metadata: {
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }],
    },
  }),
  'create a workload': {
    verb: 'create',
    path: workloads(OPTED_IN),
    body: { ...deploymentOf(OPTED_IN, 'attack', 'secrets') },
  },
  'delete a workload': { verb: 'delete', path: `${workloads(OPTED_IN)}/opted-in` },
  'evict a pod of a namespace that did not opt in': evict(NOT_OPTED_IN, { uid: 'x' }),
  'evict a pod without its UID': evict(OPTED_IN, {}),
  'end a pod sooner than its author says': evict(OPTED_IN, { uid: 'x' }, { gracePeriodSeconds: 0 }),
  'delete a pod': { verb: 'delete', path: `${pods(OPTED_IN)}/web` },
};
