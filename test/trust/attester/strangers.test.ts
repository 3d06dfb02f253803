// SPDX-License-Identifier: Apache-2.0
/**
 * ADR 0027: what is published follows from what only we can write. Nothing in the bundle keeps an
 * anchor, hides it or silences the alarm.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { ClusterSigner, ClusterSignerStatus } from '#api/signer/cluster-signer.ts';
import { act } from '#trust/attester/act.ts';
import type { BundleChange } from '#trust/attester/decide.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import { resource } from '#kube/resource/resource.ts';
import type { EventDetails } from '#kube/events/body.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import {
  HOUR,
  LONGEST,
  NOW,
  RETAIN,
  SINCE,
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
} from '../../support/trust/bundles.ts';

const [A, OLD, EVIL] = [anchor('A'), anchor('OLD'), anchor('EVIL')];
const UNTIL = '2026-11-22T09:00:00Z';

function signerOf(more: ClusterSignerStatus = { retainedAnchors: [] }): ClusterSigner {
  const signer = signerWith([A.pem]);
  return { ...signer, status: { ...signer.status, ...more } };
}

const retained = { fingerprint: OLD.fingerprint, until: UNTIL, anchor: OLD.pem };
const published = served(planOf({ signer: signerOf() }));
const printsOf = (plan: BundleChange): ReadonlySet<string> =>
  anchorFingerprints(served(plan).spec.trustBundle);

/** The bundle with an anchor more, and with all that it can say of itself. */
function forged(of: ClusterTrustBundle = published): ClusterTrustBundle {
  const since = {
    [A.fingerprint]: '2026-01-01T00:00:00Z',
    [EVIL.fingerprint]: '2026-01-01T00:00:00Z',
  };
  const bundle = annotated(of, {
    [SINCE]: JSON.stringify(since),
    'countersign.dev/inherited': JSON.stringify({ [EVIL.fingerprint]: '2126-01-01T00:00:00Z' }),
    [LONGEST]: '876000h',
    'countersign.dev/cluster-signer-uid': 'an-earlier-one',
  });
  return { ...bundle, spec: { ...bundle.spec, trustBundle: of.spec.trustBundle + EVIL.pem } };
}

test('attester removes and reports an added anchor, whatever its annotations', () => {
  const plan = planOf({ signer: signerOf(), bundle: forged() });
  assert.ok(plan.kind === 'update' && plan.repaired);
  assert.deepEqual(plan.strangers, [EVIL.fingerprint]);
  assert.deepEqual(printsOf(plan), new Set([A.fingerprint]));
  assert.equal(served(plan).metadata.annotations?.[LONGEST], '24h');
});

test('each added anchor is named in an Event and counted in a metric', async () => {
  const plan = planOf({ signer: signerOf(), bundle: forged() });
  const component = recordedComponent({ clock: () => NOW });
  component.client.answer(({ body }) => body);
  const bundles = resource({
    group: 'certificates.k8s.io',
    version: 'v1',
    plural: 'clustertrustbundles',
  });
  await act({ component, resource: bundles, plan, judgedAt: NOW, clocksApart: false });
  const [note] = component.notes;
  assert.deepEqual([note?.type, note?.reason], ['Warning', 'BundleRepaired']);
  assert.ok(note?.note.includes(EVIL.fingerprint));
  const labels: Readonly<Record<string, string>> = {
    signer: 'example.com/workload',
    anchor: EVIL.fingerprint,
  };
  assert.deepEqual(component.counted, [['strangers', labels]]);
});

test('a repair names the last field manager of the spec and the bundle’s uid', async () => {
  const wrote = (manager: string, time: string, field: string): object => ({
    manager,
    time,
    operation: 'Update',
    fieldsType: 'FieldsV1',
    fieldsV1: { [field]: {} },
  });
  const managedFields = [
    wrote('mallory\u202e', '2026-11-21T08:00:00Z', 'f:spec'),
    wrote('countersign-attester', '2026-11-21T09:00:00Z', 'f:spec'),
    wrote('labeller', '2026-11-21T09:00:00Z', 'f:metadata'),
    wrote('someone-before', '2026-11-20T08:00:00Z', 'f:spec'),
  ];
  const edited = forged();
  const bundle = { ...edited, metadata: { ...edited.metadata, managedFields } };
  const note = await noteOf(planOf({ signer: signerOf(), bundle }));
  assert.match(note.note, /field manager "mallory\\u\{202e\}" had changed it/);
  assert.equal(note.regarding.uid, edited.metadata.uid);
});

test('attester recreates a deleted bundle with an Event and keeps its anchors’ times', async () => {
  const earlier = '2026-11-21T01:00:00Z';
  const lost = annotated(published, { [SINCE]: JSON.stringify({ [A.fingerprint]: earlier }) });
  const plan = planOf({ signer: signerOf(), lost });
  assert.ok(plan.kind === 'create');
  const since = JSON.parse(plan.bundle.metadata.annotations?.[SINCE] ?? '') as unknown;
  assert.deepEqual(since, { [A.fingerprint]: earlier });
  const note = await noteOf(plan);
  assert.deepEqual([note.type, note.reason], ['Warning', 'BundleRepaired']);
  assert.match(note.note, /deleted it/);
  assert.equal(note.regarding.uid, 'made');
});

test('an anchor that the deleted bundle did not have counts from now on', () => {
  const lost = annotated(forged(), { [SINCE]: JSON.stringify({ [EVIL.fingerprint]: UNTIL }) });
  const bare = { ...lost, spec: { ...lost.spec, trustBundle: EVIL.pem } };
  const plan = planOf({ signer: signerOf(), lost: bare });
  const since = JSON.parse(served(plan).metadata.annotations?.[SINCE] ?? '') as object;
  assert.deepEqual(Object.keys(since), [A.fingerprint]);
});

async function noteOf(plan: BundleChange): Promise<EventDetails> {
  const component = recordedComponent({ clock: () => NOW });
  component.client.answer(({ body }) => {
    if (body === undefined) return {};
    const { metadata, ...rest } = body as ClusterTrustBundle;
    return { ...rest, metadata: { ...metadata, uid: 'made' } };
  });
  const group = 'certificates.k8s.io';
  const bundles = resource({ group, version: 'v1', plural: 'clustertrustbundles' });
  await act({ component, resource: bundles, plan, judgedAt: NOW, clocksApart: false });
  const [note] = component.notes;
  assert.ok(note !== undefined);
  return note;
}

test('an anchor that the status retains stays until its time, whatever the bundle has', () => {
  const signer = signerOf({ retainedAnchors: [retained] });
  for (const bundle of [published, forged(), annotated(published, { [LONGEST]: '1s' })]) {
    assert.deepEqual(
      printsOf(planOf({ signer, bundle })),
      new Set([A.fingerprint, OLD.fingerprint]),
    );
  }
  const both = served(planOf({ signer, bundle: published }));
  assert.deepEqual(
    printsOf(planOf({ signer, bundle: both, now: NOW + 25 * HOUR })),
    new Set([A.fingerprint]),
  );
});

test('an anchor that is retained and distrusted is not published', () => {
  const signer = signerOf({
    retainedAnchors: [retained],
    distrusted: [{ fingerprint: OLD.fingerprint, reason: 'Named' }],
  });
  assert.deepEqual(planOf({ signer, bundle: published }), { kind: 'ignore' });
});

test('a former anchor is not reported within an hour of its removal', () => {
  const formerAnchors = [{ fingerprint: EVIL.fingerprint, removedAt: '2026-11-21T08:30:00Z' }];
  const signer = signerOf({ retainedAnchors: [], formerAnchors });
  for (const [now, repaired] of [
    [NOW, false],
    [NOW + HOUR, true],
  ] as const) {
    const plan = planOf({ signer, bundle: forged(), now });
    assert.ok(plan.kind === 'update');
    assert.equal(plan.repaired, repaired);
  }
});

test('an unused bundle ends with its anchors, whatever its annotations', () => {
  const end = Date.UTC(2027, 0, 1);
  const plan = planOf({ bundle: annotated(published, { [LONGEST]: '876000h' }) });
  assert.ok(plan.kind === 'update');
  assert.ok(Date.parse(plan.bundle.metadata.annotations?.[RETAIN] ?? '') <= end + 1000);
});

test('an added anchor is named, whatever text is beside it', () => {
  const of = forged();
  const bundle = { ...of, spec: { ...of.spec, trustBundle: `x\n${of.spec.trustBundle}y` } };
  const plan = planOf({ signer: signerOf(), bundle });
  assert.ok(plan.kind === 'update' && plan.repaired);
  assert.deepEqual(plan.strangers, [EVIL.fingerprint]);
});

test('a ClusterSigner without a CA publishes its retained anchors and nothing else', () => {
  const without = signerWith([]);
  const signer = { ...without, status: { ...without.status, retainedAnchors: [retained] } };
  const alone = served(planOf({ signer }));
  assert.deepEqual(anchorFingerprints(alone.spec.trustBundle), new Set([OLD.fingerprint]));
  const plan = planOf({ signer, bundle: forged(alone) });
  assert.ok(plan.kind === 'update' && plan.repaired);
  assert.deepEqual(plan.strangers, [EVIL.fingerprint]);
  assert.deepEqual(printsOf(plan), new Set([OLD.fingerprint]));
});
