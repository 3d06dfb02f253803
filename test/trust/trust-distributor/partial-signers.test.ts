// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { createSignerTrustTargets } from '#trust/trust-distributor/signer-trust.ts';
import { until } from '../../cluster/until.ts';
import { watchFeed } from '../../support/kube/watch-feed.ts';
import { namespacedSigner, teamSpec } from '../../support/signers/namespaced-signer.ts';
import { anchor } from '../../support/trust/bundles.ts';
import { componentOn } from './world.ts';

const [A, B] = [anchor('A'), anchor('B')];
const LISTED = { 'k8s.io/initial-events-end': 'true' };
const END = {
  type: 'BOOKMARK',
  object: { metadata: { resourceVersion: '9', annotations: LISTED } },
};

function added(name: string, anchors: string): object {
  const authority = {
    fingerprint: 'sha256:0',
    phase: 'Active',
    notBefore: '2026-01-01T00:00:00Z',
    notAfter: '2027-01-01T00:00:00Z',
    longestLeaf: '1h',
    anchors,
  };
  const own = { name, uid: `uid-${name}`, resourceVersion: '5' };
  const signer = namespacedSigner(teamSpec(), own);
  return { type: 'ADDED', object: { ...signer, status: { authorities: [authority] } } };
}

const owner = (name: string): object => ({
  apiVersion: 'countersign.dev/v1alpha1',
  kind: 'Signer',
  name,
  uid: `uid-${name}`,
});

const CONFIG_MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    namespace: 'team-a',
    name: 'signers.countersign.dev',
    uid: 'c',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: { 'countersign.dev/signer-name': 'signers.countersign.dev' },
    ownerReferences: [owner('db'), owner('web')],
  },
  data: { 'db.crt': A.pem, 'web.crt': B.pem },
};

test('a Signer that is not listed yet keeps its key in the ConfigMap', async () => {
  const writes: RequestInit[] = [];
  const stop = new AbortController();
  const signers = watchFeed(stop.signal);
  const client: Client = {
    clockOffset: () => 0,
    close: () => Promise.resolve(),
    stream: ({ path, signal }) => {
      if (path.endsWith('/signers')) return Promise.resolve(signers.chunks);
      const configMaps = watchFeed(signal);
      configMaps.send({ type: 'ADDED', object: CONFIG_MAP });
      configMaps.send(END);
      return Promise.resolve(configMaps.chunks);
    },
    request: (request) => {
      writes.push(request);
      return Promise.reject(new Error('no write is expected'));
    },
  };
  const component = componentOn(client, { namespacedSigners: true });
  const running = createSignerTrustTargets(component).run(stop.signal);
  const rounds = (of: string): number => component.counted.filter(([name]) => name === of).length;
  signers.send(added('db', A.pem));
  await until('the namespace was judged', 10_000, () => rounds('retried') > 2);
  signers.send(added('web', B.pem));
  signers.send(END);
  const worked = rounds('worked');
  await until('it is judged with both', 10_000, () => rounds('worked') > worked + 1);
  stop.abort();
  await running;
  assert.deepEqual(writes, []);
});
