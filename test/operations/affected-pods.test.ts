// SPDX-License-Identifier: Apache-2.0
/** Which pods may hold a leaf of a CA. To miss one is worse than to name one too many. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAlive, countPodCertificates, recreatingOwner, type Pod } from '#api/object/pod.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { affectedPods } from '#operations/pods/affected-pods.ts';
import { stoppedSigningBy } from '#ca/rotation/authorities.ts';
import { newestIssuerOf } from '#operations/pods/newest-issuer.ts';
import type { AuthorityStatus } from '#api/signer/cluster-signer.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { encodePem } from '#pki/der/pem.ts';
import { ca, link, usage, type Link } from '../support/pki/chain.ts';
import { HOUR, LINKS, MINUTE, at, entry, type Name } from './signer-states.ts';

const SIGNER = 'example.com/workload';

interface PodParts {
  readonly age?: number;
  readonly signers?: readonly string[];
  readonly metadata?: object;
  readonly phase?: string;
}

function pod(
  name: string,
  { age = HOUR, signers = [SIGNER], metadata, phase }: PodParts = {},
): Pod {
  const meta = {
    namespace: 'team-a',
    name,
    uid: name,
    resourceVersion: '1',
    creationTimestamp: at(-age),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...meta, ...metadata },
    spec: {
      nodeName: 'node-1',
      volumes: [{}, { projected: {} }, { projected: { sources: [{}, ...signers.map(mount)] } }],
    },
    status: { phase: phase ?? 'Running' },
  };
}

const mount = (signerName: string): object => ({ podCertificate: { signerName } });

/** A leaf of the CA, asked for by the pod so long ago. */
function issued(uid: string, by: Name, age: number): PodCertificateRequest {
  const leaf = link(`leaf of ${by}`, { by: LINKS[by] });
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'PodCertificateRequest',
    metadata: {
      name: uid,
      uid: `${uid}-${age}`,
      resourceVersion: '1',
      creationTimestamp: at(-age),
    },
    spec: { signerName: SIGNER, podUID: uid } as PodCertificateRequest['spec'],
    status: { certificateChain: encodePem('CERTIFICATE', leaf.certificate.raw) },
  };
}

const RETIRING = entry('a', 'Retiring');

function affected(
  pods: readonly Pod[],
  requests: readonly PodCertificateRequest[] = [],
): readonly string[] {
  const newestIssuer = newestIssuerOf(requests, SIGNER, RETIRING);
  // It stopped half an hour ago.
  return affectedPods({ pods, stoppedBy: Date.parse(at(-30 * MINUTE)), newestIssuer }).map(
    ({ name }) => name,
  );
}

test('a pod made after the CA stopped holds no leaf of it; the oldest come first', () => {
  const pods = [pod('young', { age: 29 * MINUTE }), pod('edge', { age: 30 * MINUTE }), pod('old')];
  assert.deepEqual(affected(pods), ['old', 'edge']);
});

test('as long as the CA signs, every pod may hold a leaf of it', () => {
  const all = { pods: [pod('young', { age: 0 })], newestIssuer: () => 'unknown' as const };
  assert.equal(affectedPods({ ...all, stoppedBy: undefined }).length, 1);
});

const seen: [law: string, requests: readonly PodCertificateRequest[], holds: boolean][] = [
  ['a later certificate of another CA replaces that of the CA', [issued('p', 'b', MINUTE)], false],
  ['a pod has the certificate that it got last', [issued('p', 'a', MINUTE)], true],
  ['the newest request counts', [issued('p', 'a', 2 * MINUTE), issued('p', 'b', MINUTE)], false],
  [
    'the newest request counts, in any order',
    [issued('p', 'b', 2 * MINUTE), issued('p', 'a', MINUTE)],
    true,
  ],
  [
    'of two requests in the same second the affected one counts',
    [issued('p', 'b', MINUTE), issued('p', 'a', MINUTE)],
    true,
  ],
  ['requests of other pods do not count', [issued('q', 'b', MINUTE)], true],
  [
    'a request that was not issued does not count',
    [{ ...issued('p', 'b', MINUTE), status: {} }],
    true,
  ],
  [
    'a request of another signer does not count',
    [
      {
        ...issued('p', 'b', MINUTE),
        spec: { signerName: 'example.com/other', podUID: 'p' } as PodCertificateRequest['spec'],
      },
    ],
    true,
  ],
  [
    'a pod whose chain cannot be read counts as affected',
    [{ ...issued('p', 'b', MINUTE), status: { certificateChain: 'no PEM' } }],
    true,
  ],
];

for (const [law, requests, holds] of seen) {
  test(law, () => {
    assert.deepEqual(affected([pod('p')], requests), holds ? ['p'] : []);
  });
}

test('a leaf of the successor is none of the CA that has certified its key', () => {
  const old = link('CA r', { extensions: [ca(1), usage()] });
  const next = link('CA n', { extensions: [ca(1), usage()] });
  const cross = link('CA n', { by: old, extensions: [ca(0), usage()] });
  const pemOf = ({ certificate }: Link): string => encodePem('CERTIFICATE', certificate.raw);
  const statusOf = (of: Link): AuthorityStatus => ({
    ...RETIRING,
    fingerprint: fingerprint(of.certificate.raw),
    anchors: pemOf(of),
  });
  const chain = pemOf(link('leaf', { by: next })) + pemOf(cross);
  const request = { ...issued('p', 'a', MINUTE), status: { certificateChain: chain } };
  const newest = (of: Link): string => newestIssuerOf([request], SIGNER, statusOf(of))(pod('p'));
  assert.deepEqual([newest(old), newest(next)], ['another', 'this']);
});

test('a leaf below the user’s own intermediate is of that CA, whose anchor is the root', () => {
  const root = link('CA r', { extensions: [ca(1), usage()] });
  const between = link('CA i', { by: root, extensions: [ca(0), usage()] });
  const pemOf = ({ certificate }: Link): string => encodePem('CERTIFICATE', certificate.raw);
  const chain = pemOf(link('leaf', { by: between })) + pemOf(between);
  const request = { ...issued('p', 'a', MINUTE), status: { certificateChain: chain } };
  const own = {
    ...RETIRING,
    fingerprint: fingerprint(between.certificate.raw),
    anchors: pemOf(root),
  };
  assert.equal(newestIssuerOf([request], SIGNER, own)(pod('p')), 'this');
});

test('a young pod that got a leaf of the CA all the same holds it', () => {
  assert.deepEqual(affected([pod('p', { age: MINUTE })], [issued('p', 'a', 0)]), ['p']);
});

test('of a pod with two files of the signer nobody knows which one a request was for', () => {
  const two = pod('p', { signers: [SIGNER, SIGNER] });
  assert.deepEqual(affected([two], [issued('p', 'b', MINUTE)]), ['p']);
});

test('a CA’s stop follows from its leaves’ end, unless its own end was earlier', () => {
  assert.equal(stoppedSigningBy(RETIRING), Date.parse(at(-12 * HOUR)));
  assert.equal(stoppedSigningBy(entry('a', 'Active')), undefined);
  assert.equal(
    stoppedSigningBy({ ...RETIRING, notAfter: RETIRING.leavesExpireBy ?? '' }),
    undefined,
  );
});

test('a pod mounts a signer once for each file', () => {
  assert.equal(countPodCertificates(pod('p', { signers: [] }), SIGNER), 0);
  assert.equal(
    countPodCertificates(pod('p', { signers: ['example.com/other', SIGNER, SIGNER] }), SIGNER),
    2,
  );
  assert.equal(countPodCertificates({ ...pod('p'), spec: {} }, SIGNER), 0);
});

test('what has ended or is on its way out holds nothing for long', () => {
  for (const phase of ['Pending', 'Running', 'Unknown']) assert.ok(isAlive(pod('p', { phase })));
  for (const phase of ['Succeeded', 'Failed']) assert.ok(!isAlive(pod('p', { phase })));
  assert.ok(!isAlive(pod('p', { metadata: { deletionTimestamp: at(0) } })));
});

test('evicts only pods that a controller recreates, and no static pod', () => {
  const owned = (kind: string, controller?: boolean): Pod =>
    pod('p', {
      metadata: {
        ownerReferences: [
          { kind, name: 'web', ...(controller === undefined ? {} : { controller }) },
        ],
      },
    });
  assert.equal(recreatingOwner(owned('ReplicaSet', true))?.kind, 'ReplicaSet');
  assert.equal(recreatingOwner(owned('Node', true)), undefined);
  assert.equal(recreatingOwner(owned('ConfigMap')), undefined);
  assert.equal(recreatingOwner(pod('p')), undefined);
});
