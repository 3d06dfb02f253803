// SPDX-License-Identifier: Apache-2.0
/**
 * ADR 0027: anchors of an earlier ClusterSigner are read from the bundle once, and remembered in
 * the status.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { eventsOf } from '#trust/authority/apply/events.ts';
import type { SignerSnapshot } from '#trust/authority/decide/snapshot.ts';
import { NOW } from '../../../support/pki/chain.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import {
  A,
  B,
  BELOW,
  OWN,
  after,
  bundleWith,
  certificate,
  fingerprintOf,
  planOf,
  secret,
} from '../../../support/trust/ca-secrets.ts';

const HOUR = 3_600_000;

/** A and B are published, for a ClusterSigner that was there before. */
function published(annotations: Readonly<Record<string, string>> = {}): ClusterTrustBundle {
  const bundle = bundleWith([A, 86_400], [B, 86_400]);
  const all = {
    ...bundle.metadata.annotations,
    'countersign.dev/cluster-signer': 'workload',
    'countersign.dev/cluster-signer-uid': 'an-earlier-one',
    'countersign.dev/secret-namespace': 'countersign-keys',
    'countersign.dev/longest-leaf': '24h',
    ...annotations,
  };
  return { ...bundle, metadata: { ...bundle.metadata, annotations: all } };
}

const looked = (more: Partial<SignerSnapshot> = {}): ReturnType<typeof planOf> =>
  planOf({ bundle: published(), isBundleKnown: true, ...more });

const first = looked();

test('the first look retains an earlier ClusterSigner’s anchors, each with an Event', () => {
  const known: ClusterSigner = { ...workload(), status: { authorities: [] } };
  const plan = looked({ signer: known });
  // A is the signer's own by then, and has a time of its own.
  assert.deepEqual(
    plan.status.retainedAnchors?.map(({ fingerprint }) => fingerprint),
    [fingerprintOf(B)],
  );
  const notes = eventsOf(known, plan.status).filter(({ reason }) => reason === 'AnchorRetained');
  assert.ok(notes.some(({ note, type }) => type === 'Warning' && note.includes(fingerprintOf(B))));
});

test('after the first look the bundle adds no retained anchors', () => {
  const signer = { ...after(first), status: { ...first.status, retainedAnchors: [] } };
  assert.deepEqual(looked({ signer }).status.retainedAnchors, []);
});

test('a retained anchor is removed with its last leaf and remembered as former', () => {
  const signer = after(first);
  const later = NOW + 26 * HOUR;
  const plan = looked({ signer, now: later });
  assert.deepEqual(plan.status.retainedAnchors, []);
  assert.ok(plan.status.formerAnchors?.some(({ fingerprint }) => fingerprint === fingerprintOf(B)));
  assert.deepEqual(
    looked({ signer, now: later, clocksApart: true }).status.retainedAnchors,
    first.status.retainedAnchors,
  );
});

test('nothing is retained while bundles are unlisted or an older ClusterSigner serves', () => {
  assert.equal(looked({ isBundleKnown: false }).status.retainedAnchors, undefined);
  assert.equal(looked({ elder: 'elder' }).status.retainedAnchors, undefined);
  assert.deepEqual(looked({ bundle: undefined }).status.retainedAnchors, []);
});

test('no anchor is retained from a bundle of another installation', () => {
  const bundle = published({ 'countersign.dev/secret-namespace': 'other-keys' });
  assert.deepEqual(looked({ bundle }).status.retainedAnchors, []);
});

/** The CA in the Secret is below A, and leaves are shorter than they were. */
const shortened = workload({ ...OWN, 'profile.maxDuration': '1h' });
const below = {
  kind: 'found',
  secret: secret(BELOW, { 'ca.crt': certificate(A).toString() }),
} as const;

for (const [law, signer, annotations] of [
  ['a ClusterSigner that is created again', shortened, {}],
  ['a lost status', shortened, { 'countersign.dev/cluster-signer-uid': shortened.metadata.uid }],
] as const) {
  test(`after ${law}, the root of an intermediate outlives its longest leaf`, () => {
    const { status } = looked({ signer, secret: below, bundle: published(annotations) });
    const own = status.authorities?.find((each) => each.fingerprint === fingerprintOf(BELOW));
    assert.equal(own?.longestLeaf, '24h');
  });
}

test('an intermediate that follows another below its root has the leaves of its spec', () => {
  const entry = {
    fingerprint: `sha256:${'0'.repeat(64)}`,
    phase: 'Active',
    notBefore: '2026-05-01T00:00:00Z',
    notAfter: '2027-01-01T00:00:00Z',
    longestLeaf: '24h',
    anchors: certificate(A).toString(),
  } as const;
  const status = { authorities: [entry], retainedAnchors: [] };
  const plan = looked({ signer: { ...shortened, status }, secret: below });
  const longest = plan.status.authorities?.map((each) => [each.phase, each.longestLeaf]);
  assert.deepEqual(longest, [
    ['Active', '1h'],
    ['Retiring', '24h'],
  ]);
});
