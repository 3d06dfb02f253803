// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { servedSince } from '#api/object/cluster-trust-bundle.ts';
import { requirePropagatedAnchor } from '#ca/issuance/propagation-gate.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import {
  HOUR,
  NOW,
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
  sinceOf,
} from '../../support/trust/bundles.ts';

const [A, B, C] = [anchor('A'), anchor('B'), anchor('C')];
const INHERITED = 'countersign.dev/inherited';
/** The longest leaf, ten minutes in which one may be made late, and five of a late verifier. */
const LAST = 24 * HOUR + 15 * 60_000;

const published = served(planOf({ signer: signerWith([A.pem], '24h') }));

/**
 * A ClusterSigner that was created again under the same names: its status has none of the CAs
 * before it.
 */
function successor(anchors: readonly string[], uid = 'made-again'): ClusterSigner {
  const signer = signerWith(anchors, '1h');
  return { ...signer, metadata: { ...signer.metadata, uid } };
}

const texts = (bundle: { spec: { trustBundle: string } }): ReadonlySet<string> =>
  anchorFingerprints(bundle.spec.trustBundle);

const taken = planOf({ signer: successor([B.pem]), bundle: published, now: NOW + HOUR });

test('a ClusterSigner that succeeds a deleted one keeps its anchors', () => {
  const bundle = served(taken);
  assert.deepEqual(texts(bundle), new Set([A.fingerprint, B.fingerprint]));
  assert.ok(taken.kind === 'update' && !taken.repaired);
});

test('a new CA of a successor waits for propagation', () => {
  const bundle = served(taken);
  const gate = { published: texts(bundle), servedSince: servedSince(bundle) };
  assert.throws(
    () =>
      requirePropagatedAnchor({
        ...gate,
        anchor: B.fingerprint,
        propagationSeconds: 600,
        now: NOW + HOUR + 1000,
      }),
    { code: 'ANCHOR_NOT_SERVED' },
  );
});

test('inherited anchors stay without writes until the longest leaf has expired', () => {
  assert.ok(taken.kind === 'update' && taken.requeueAt !== undefined);
  assert.ok(taken.requeueAt >= NOW + HOUR + LAST);
  assert.ok(taken.requeueAt <= NOW + HOUR + LAST + 1000);
  const signer = successor([B.pem]);
  const bundle = served(taken);
  const waiting = planOf({ signer, bundle, now: NOW + LAST });
  assert.ok(waiting.kind === 'ignore' && waiting.requeueAt !== undefined);
  assert.ok(waiting.requeueAt >= NOW + HOUR + LAST - 500);
  const later = served(planOf({ signer, bundle, now: taken.requeueAt }));
  assert.deepEqual(texts(later), new Set([B.fingerprint]));
  assert.deepEqual(later.metadata.annotations?.[INHERITED], undefined);
  const quiet = planOf({ signer, bundle: later, now: taken.requeueAt });
  assert.deepEqual(quiet, { kind: 'ignore' });
});

test('a second successor does not extend the time of inherited anchors', () => {
  const signer = successor([C.pem], 'made-again-again');
  const plan = planOf({ signer, bundle: served(taken), now: NOW + 2 * HOUR });
  const until = JSON.parse(served(plan).metadata.annotations?.[INHERITED] ?? '') as object;
  assert.deepEqual(until, {
    [A.fingerprint]: '2026-11-22T10:15:01Z',
    [B.fingerprint]: '2026-11-22T11:15:01Z',
  });
});

test('while a restored ClusterSigner has no status, the bundle keeps what it has', () => {
  const { status: _, ...restored } = successor([B.pem]);
  const plan = planOf({ signer: restored, bundle: served(taken), now: NOW + HOUR });
  assert.deepEqual(plan, { kind: 'ignore' });
});

test('an anchor that the successor also has is its own, and keeps its served-since', () => {
  const plan = planOf({ signer: successor([A.pem]), bundle: published, now: NOW + HOUR });
  const bundle = served(plan);
  assert.equal(bundle.metadata.annotations?.[INHERITED], undefined);
  assert.deepEqual(sinceOf(plan), { [A.fingerprint]: '2026-11-21T09:00:00Z' });
});

test('an anchor that another writer added is not inherited', () => {
  const edited = { ...published, spec: { ...published.spec, trustBundle: A.pem + C.pem } };
  const plan = planOf({ signer: successor([B.pem]), bundle: edited });
  assert.deepEqual(texts(served(plan)), new Set([A.fingerprint, B.fingerprint]));
});

test('a forged expiry does not keep an inherited anchor longer than its longest leaf', () => {
  const forged = annotated(served(taken), {
    [INHERITED]: JSON.stringify({ [A.fingerprint]: '2090-01-01T00:00:00Z' }),
  });
  const plan = planOf({ signer: successor([B.pem]), bundle: forged, now: NOW + 2 * HOUR });
  assert.ok(plan.kind === 'update' && plan.requeueAt !== undefined);
  assert.ok(plan.requeueAt <= NOW + 2 * HOUR + LAST + 1000);
});

test('nothing is inherited from a bundle of another installation', () => {
  const other = annotated(published, { 'countersign.dev/secret-namespace': 'other-keys' });
  const plan = planOf({ signer: successor([B.pem]), bundle: other });
  assert.deepEqual(texts(served(plan)), new Set([B.fingerprint]));
});
