// SPDX-License-Identifier: Apache-2.0
/**
 * ADR 0020: while our clock and the API server's contradict each other no anchor goes because its
 * time is over; distrust does not wait.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { act } from '#trust/attester/act.ts';
import { resource } from '#kube/resource/resource.ts';
import { MAX_CLOCK_OFFSET_MS } from '#component/server-time.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import {
  HOUR,
  NOW,
  RETAIN,
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
} from '../../support/trust/bundles.ts';

const [A, B] = [anchor('A'), anchor('B')];
const LATER = NOW + 30 * 24 * HOUR;
const published = served(planOf({ signer: signerWith([A.pem], '24h') }));

function successor(distrusted: readonly string[] = []): ClusterSigner {
  const signer = signerWith([B.pem]);
  const { managed } = signer.spec.authority;
  assert.ok(managed !== undefined);
  const spec = { ...signer.spec, authority: { managed: { ...managed, distrusted } } };
  return { ...signer, spec, metadata: { ...signer.metadata, uid: 'made-again' } };
}

test('an unused bundle is not deleted while the clocks disagree, and is afterwards', () => {
  const bundle = annotated(published, { [RETAIN]: '2026-11-21T09:00:00Z' });
  assert.deepEqual(planOf({ bundle, now: LATER, clocksApart: true }), { kind: 'ignore' });
  assert.equal(planOf({ bundle, now: LATER }).kind, 'delete');
});

test('the retention time is not set while the clocks disagree', () => {
  assert.deepEqual(planOf({ bundle: published, clocksApart: true }), { kind: 'ignore' });
});

test('inherited anchors stay while the clocks disagree, and expire afterwards', () => {
  const signer = successor();
  const both = served(planOf({ signer, bundle: published }));
  const apart = planOf({ signer, bundle: both, now: LATER, clocksApart: true });
  assert.deepEqual(apart, { kind: 'ignore' });
  const agreed = served(planOf({ signer, bundle: both, now: LATER }));
  assert.deepEqual(anchorFingerprints(agreed.spec.trustBundle), new Set([B.fingerprint]));
});

test('inherited anchors get the longest retention while the clocks disagree', () => {
  const signer = successor();
  const apart = served(planOf({ signer, bundle: published, clocksApart: true }));
  assert.deepEqual(
    anchorFingerprints(apart.spec.trustBundle),
    new Set([A.fingerprint, B.fingerprint]),
  );
  const agreed = served(planOf({ signer, bundle: apart, now: NOW + HOUR }));
  const gone = served(planOf({ signer, bundle: agreed, now: NOW + 27 * HOUR }));
  assert.deepEqual(anchorFingerprints(gone.spec.trustBundle), new Set([B.fingerprint]));
});

test('distrusted anchors are removed even while the clocks disagree', () => {
  const signer = successor([A.fingerprint]);
  const plan = served(planOf({ signer, bundle: published, clocksApart: true }));
  assert.deepEqual(anchorFingerprints(plan.spec.trustBundle), new Set([B.fingerprint]));
});

const BUNDLES = resource({
  group: 'certificates.k8s.io',
  version: 'v1',
  plural: 'clustertrustbundles',
});

test('clocks that begin to disagree before the write stop the deletion', async () => {
  const bundle = annotated(published, { [RETAIN]: '2026-11-21T09:00:00Z' });
  const plan = planOf({ bundle, now: LATER });
  const component = recordedComponent({ clock: () => LATER });
  const offsetOf = (offset: number): void => {
    // The API server's time is the same as before: it is ours that was set.
    Object.assign(component, { clock: () => LATER + offset });
    Object.assign(component.client, { clockOffset: () => offset });
  };
  const carryOut = (): Promise<unknown> =>
    act({ component, resource: BUNDLES, plan, judgedAt: LATER, clocksApart: false });
  offsetOf(MAX_CLOCK_OFFSET_MS + 1);
  assert.equal(await carryOut(), 'backoff');
  assert.deepEqual(
    component.client.requests.map(({ method }) => method),
    ['GET'],
  );
  offsetOf(MAX_CLOCK_OFFSET_MS);
  await carryOut();
  assert.deepEqual(
    component.client.requests.map(({ method }) => method),
    ['GET', 'GET', 'DELETE'],
  );
});
