// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { Service } from '#api/object/service.ts';
import {
  createOutdatedNames,
  MAX_LEAVES,
  type OutdatedNames,
} from '#requests/pcr-issuer/evidence/outdated-names.ts';
import { NOW } from '../../support/ca/issuing.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

const HOUR = 3_600_000;
const metadata = { namespace: 'team-a', resourceVersion: '1', creationTimestamp: '' };
const named = (name: string, selector = { app: 'web' }): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  spec: { selector },
  metadata: { ...metadata, name, uid: name },
});
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  spec: {},
  metadata: { ...metadata, name: 'web-0', uid: 'x', labels: { app: 'web' } },
};

interface Stage {
  readonly names: OutdatedNames;
  readonly said: readonly string[];
  readonly count: () => number | undefined;
  readonly deliver: (...services: readonly string[]) => void;
  readonly wait: (milliseconds: number) => void;
}

function stage(): Stage {
  const said: string[] = [];
  let [last, time]: [number | undefined, number] = [undefined, NOW];
  const names = createOutdatedNames({
    now: () => time,
    say: (_request, { reason, note }) => said.push(`${reason}: ${note}`),
    count: (_signerName, leaves) => (last = leaves),
  });
  return {
    names,
    said,
    count: () => last,
    wait: (milliseconds) => {
      time += milliseconds;
    },
    deliver: (...services) => {
      const proof = { pod, services: services.map((each) => named(each)), labels: [] };
      names.delivered(podRequest(), { ...proof, hasAddress: false }, NOW + HOUR);
    },
  };
}

test('a removed Service outdates its leaves once, with an Event that says until when', () => {
  const { names, said, count, deliver } = stage();
  deliver('web', 'api');
  names.changed('team-a', 'web', undefined);
  names.changed('team-a', 'web', undefined);
  names.changed('team-b', 'api', undefined);
  assert.equal(count(), 1);
  assert.equal(said.length, 1);
  assert.match(
    said[0] ?? '',
    /^PodNamesOutdated: .*Service web, which was deleted; it is valid until 20/,
  );
});

test('a selector outdates a pod’s leaf when it leaves the pod, until it returns', () => {
  const { names, count, deliver } = stage();
  deliver('web');
  names.changed('team-a', 'web', named('web', { app: 'db' }));
  assert.equal(count(), 1);
  names.changed('team-a', 'web', named('web'));
  assert.equal(count(), 0);
});

test('a renewal says which Services it lost, and takes the place of the leaf before', () => {
  const { names, said, count, deliver } = stage();
  deliver('web', 'api');
  names.changed('team-a', 'web', undefined);
  deliver('api');
  assert.equal(count(), 0);
  assert.match(said[1] ?? '', /^PodNamesLost: .* no longer has the names of web/);
});

test('a renewal that waits because nothing selects the pod outdates the leaf', () => {
  const { names, said, count, deliver } = stage();
  names.refused(podRequest());
  assert.equal(said.length, 0);
  deliver('web');
  names.refused(podRequest());
  assert.equal(count(), 1);
  assert.match(said.join(), /^PodNamesOutdated/);
});

test('an expired leaf is counted no longer', () => {
  const made = stage();
  made.deliver('web');
  made.names.changed('team-a', 'web', undefined);
  made.wait(HOUR);
  made.names.sweep();
  assert.equal(made.count(), 0);
});

/**
 * Leaves of so many pods, each with the Service web, which is gone, and labels of so many bytes.
 */
function outdatedOf(count: number, labelBytes: number): number | undefined {
  const { names, count: counted } = stage();
  for (let pod = 0; pod < count; pod += 1) {
    const request = podRequest({ podUID: `pod-${pod}` });
    const labels = { text: `${pod}`.padEnd(labelBytes, 'x') };
    const leaf = { services: ['web'], labels, notAfter: NOW + HOUR };
    names.recorded(request, leaf, () => undefined);
  }
  names.sweep();
  return counted();
}

test('labels of a page each are not kept, and others fill bounded memory', () => {
  assert.equal(outdatedOf(10, 8_300), undefined);
  assert.equal(outdatedOf(10, 7_000), 10);
  const many = outdatedOf(20_000, 7_000) ?? 0;
  assert.ok(many > 8_000 && many < 10_000, String(many));
  assert.equal(outdatedOf(51_000, 10), 50_000);
});

test('of a request nothing is kept that its author chose: a leaf outlives its pod', () => {
  const kept: object[] = [];
  const names = createOutdatedNames({
    now: () => NOW,
    count: () => undefined,
    say: ({ spec }) => kept.push(spec),
  });
  const request = podRequest({ unverifiedUserAnnotations: { 'a.b/c': 'x'.repeat(100_000) } });
  const leaf = { services: ['web'], labels: {}, notAfter: NOW + HOUR };
  names.recorded(request, leaf, () => undefined);
  assert.ok(JSON.stringify(kept).length < 500);
});

test('two volumes of a pod with different annotations, in any order, have two leaves', () => {
  const { names, count } = stage();
  const leaf = { services: ['web'], labels: {}, notAfter: NOW + HOUR };
  const record = (unverifiedUserAnnotations: Readonly<Record<string, string>>): void =>
    names.recorded(podRequest({ unverifiedUserAnnotations }), leaf, () => undefined);
  record({ 'a.b/c': '1', 'a.b/d': '2' });
  record({ 'a.b/d': '2', 'a.b/c': '1' });
  record({ 'a.b/c': '2', 'a.b/d': '2' });
  names.sweep();
  assert.equal(count(), 2);
});

test('a request of another namespace says nothing of a pod, whatever UID it has', () => {
  const { names, said, deliver } = stage();
  deliver('web');
  const { metadata: own, ...rest } = podRequest();
  names.refused({ ...rest, metadata: { ...own, namespace: 'team-b' } });
  assert.deepEqual(said, []);
});

test('a Service that went without a watch is gone when all are listed', () => {
  const { names, said, count, deliver } = stage();
  deliver('web', 'api');
  names.listed((namespace, name) => (name === 'api' ? named(`${namespace}/api`) : undefined));
  assert.equal(count(), 1);
  assert.match(said.join(), /Service web, which was deleted/);
});

const manyLabels = Object.fromEntries(
  Array.from({ length: 48 }, (_, n) => [`label-${n}`, 'x'.repeat(63)]),
);
for (const { size, labels, leaves } of [
  { size: 'short labels', labels: {}, leaves: MAX_LEAVES },
  { size: '6 KiB of labels', labels: manyLabels, leaves: 10_500 },
])
  test(`the leaves of one namespace displace none of another: ${size}`, () => {
    const { names, said, count, deliver } = stage();
    deliver('web');
    const of = { ...pod, metadata: { ...pod.metadata, labels: { app: 'web', ...labels } } };
    const proof = { pod: of, services: [named('web')], labels: [], hasAddress: false };
    const { metadata: foreign, spec, ...rest } = podRequest();
    for (let n = 0; n < leaves; n += 1) {
      const request = {
        ...rest,
        metadata: { ...foreign, namespace: 'team-b' },
        spec: { ...spec, maxExpirationSeconds: 3600 + n },
      };
      names.delivered(request, proof, NOW + HOUR);
    }
    names.changed('team-a', 'web', undefined);
    assert.deepEqual([count(), said.length], [1, 1]);
  });
