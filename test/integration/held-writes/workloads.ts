// SPDX-License-Identifier: Apache-2.0
/** What `pod-refresher` restarts, and what it would change of it. */
import type { Body, HeldWrite } from './writes.ts';

/** A namespace that opted in. */
export const OPTED_IN = 'refreshed';

const template = (metadata: object): Body => ({ spec: { template: { metadata } } });
const labels = { app: 'held' };
const containers = [{ name: 'main', image: 'example.com/web' }];
const spec = {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers } },
};

/** Every field of a template's metadata that people can write. */
const refused: Readonly<Record<string, Body>> = {
  'a finalizer of its pods': template({ finalizers: ['example.com/stay'] }),
  'an owner of its pods': template({
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' }],
  }),
  'the name of its pods': template({ name: 'x' }),
  'the generated name of its pods': template({ generateName: 'x-' }),
  'the namespace of its pods': template({ namespace: 'x' }),
  'another label of its pods': template({ labels: { 'example.com/attack': 'x' } }),
  'another annotation of its pods': template({ annotations: { 'example.com/attack': 'x' } }),
  'the node of its pods': { spec: { template: { spec: { nodeName: 'x' } } } },
  'how many revisions stay': { spec: { revisionHistoryLimit: 1 } },
};

export const WORKLOADS: readonly HeldWrite[] = [
  { kind: 'Deployment', more: {} },
  { kind: 'StatefulSet', more: { serviceName: 'held' } },
  { kind: 'DaemonSet', more: {} },
].map(({ kind, more }) => ({
  component: 'pod-refresher',
  collection: `/apis/apps/v1/namespaces/${OPTED_IN}/${kind.toLowerCase()}s`,
  how: 'patch',
  object: {
    apiVersion: 'apps/v1',
    kind,
    spec: { ...spec, ...more },
    metadata: { name: 'held', annotations: { 'countersign.dev/refresh': 'restart' } },
  },
  allowed: {
    ...template({ annotations: { 'countersign.dev/certificates': 'x' } }),
    metadata: { labels: { 'countersign.dev/restarted-at': '20260101T000000Z' } },
  },
  refused,
}));
