// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap, KubeObject } from '#api/object/object.ts';
import type { AuthorityPhase } from '#api/signer/cluster-signer.ts';
import {
  decideSignerTrust,
  type SignerTrustChange,
} from '#trust/trust-distributor/decide-signer-trust.ts';
import { anchorsWithinRoom } from '#component/signers/signer-quota.ts';
import { anchor } from '../../support/trust/bundles.ts';

const [A, B] = [anchor('A'), anchor('B')];
const NAME = 'signers.countersign.dev';
const TIMES = { creationTimestamp: '2026-11-21T09:00:00Z', resourceVersion: '3' };

function signer(
  name: string,
  ...authorities: readonly { readonly phase: AuthorityPhase; readonly anchors?: string }[]
): KubeObject & { readonly status: unknown } {
  const metadata = { ...TIMES, namespace: 'team-a', name, uid: `uid-${name}` };
  const apiVersion = 'countersign.dev/v1alpha1';
  return { apiVersion, kind: 'Signer', metadata, status: { authorities } };
}

function written(change: SignerTrustChange, annotation = NAME): ConfigMap {
  assert.ok(change.kind === 'apply');
  const { data, ownerReferences } = change;
  const annotations = { 'countersign.dev/signer-name': annotation };
  const metadata = { ...TIMES, namespace: 'team-a', name: NAME, uid: 'c', annotations };
  const owned = { ...metadata, ownerReferences };
  return { apiVersion: 'v1', kind: 'ConfigMap', data, metadata: owned };
}

const web = signer('web', { phase: 'Active', anchors: A.pem });

test('each Signer has a key of its own, with every CA that is trusted', () => {
  const rotated = signer(
    'web',
    { phase: 'Active', anchors: A.pem },
    { phase: 'Retiring', anchors: B.pem },
  );
  const change = decideSignerTrust(
    [signer('db', { phase: 'Active', anchors: B.pem }), rotated],
    undefined,
  );
  assert.ok(change.kind === 'apply');
  assert.deepEqual(Object.keys(change.data), ['db.crt', 'web.crt']);
  assert.equal(change.data['web.crt']?.split('BEGIN CERTIFICATE').length, 3);
  assert.deepEqual(
    change.ownerReferences.map(({ uid }) => uid),
    ['uid-db', 'uid-web'],
  );
});

test('a CA that is distrusted, and a Signer without a CA, have no anchor in it', () => {
  const distrusted = signer('web', { phase: 'Distrusted', anchors: A.pem });
  for (const none of [distrusted, signer('web'), signer('web', { phase: 'Active' })])
    assert.deepEqual(decideSignerTrust([none], undefined), { kind: 'ignore' });
});

test('what is as it should be is not written again; drift is', () => {
  const found = written(decideSignerTrust([web], undefined));
  assert.equal(decideSignerTrust([web], found).kind, 'ignore');
  const drifts: readonly Partial<ConfigMap>[] = [
    { data: {} },
    { data: { ...found.data, 'x.crt': A.pem } },
    { data: { 'web.crt': B.pem } },
    { binaryData: { x: 'eA==' } },
  ];
  for (const drift of drifts)
    assert.equal(decideSignerTrust([web], { ...found, ...drift }).kind, 'apply');
});

test('a Signer that was deleted and made again is another owner', () => {
  const found = written(decideSignerTrust([web], undefined));
  const again = { ...web, metadata: { ...web.metadata, uid: 'another' } };
  assert.equal(decideSignerTrust([again], found).kind, 'apply');
});

test('a ConfigMap that is not ours is left alone', () => {
  const found = written(decideSignerTrust([web], undefined), 'example.com/workload');
  assert.equal(decideSignerTrust([web], found).kind, 'refused');
  assert.equal(decideSignerTrust([], found).kind, 'ignore');
});

test('without a Signer that has a CA it goes', () => {
  const found = written(decideSignerTrust([web], undefined));
  assert.equal(decideSignerTrust([], found).kind, 'delete');
});

test('a name that leaves no room for a key is left out', () => {
  const long = signer('w'.repeat(250), { phase: 'Active', anchors: A.pem });
  assert.equal(decideSignerTrust([long], undefined).kind, 'ignore');
  const fits = signer('w'.repeat(249), { phase: 'Active', anchors: A.pem });
  assert.equal(decideSignerTrust([fits], undefined).kind, 'apply');
});

test('a Signer’s CAs have room for 24,576 characters of anchors, first ones first', () => {
  const authority = (anchors: string): Parameters<typeof anchorsWithinRoom>[0][number] => ({
    fingerprint: 'sha256:0',
    phase: 'Retiring',
    anchors,
    longestLeaf: '1h',
    notBefore: TIMES.creationTimestamp,
    notAfter: TIMES.creationTimestamp,
  });
  const kept = anchorsWithinRoom(['a'.repeat(24_000), 'b'.repeat(576), 'c'].map(authority));
  assert.deepEqual(
    kept.map(({ anchors }) => anchors?.length),
    [24_000, 576, undefined],
  );
});
