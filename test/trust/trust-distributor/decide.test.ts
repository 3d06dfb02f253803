// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { decide, type TargetChange, type TargetSnapshot } from '#trust/trust-distributor/decide.ts';
import { reduceConfigMap } from '#trust/trust-distributor/reduce-config-map.ts';
import { NOW, anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';

const [A, B, C] = [anchor('A'), anchor('B'), anchor('C')];
const signer = signerWith([A.pem]);
const bundle = served(planOf({ signer }));

function changeOf(more: Partial<TargetSnapshot>): TargetChange {
  return decide({
    consents: true,
    isTerminating: false,
    signerName: signer.spec.signerName,
    signer,
    isPublished: true,
    bundle,
    existing: undefined,
    now: NOW,
    clocksApart: false,
    secretNamespace: 'countersign-keys',
    ...more,
  });
}

function configMap(
  text: string,
  more: Partial<ConfigMap> = {},
  signerName = 'example.com/workload',
): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: { 'ca.crt': text },
    metadata: {
      namespace: 'team-a',
      name: 'example.com.workload.primary',
      uid: 'c-1',
      resourceVersion: '3',
      creationTimestamp: '2026-11-21T09:00:00Z',
      annotations: { 'countersign.dev/signer-name': signerName },
    },
    ...more,
  };
}

/** The signer with a CA that a person distrusts. */
function distrusting(fingerprint: string): ClusterSigner {
  const of = signerWith([A.pem, B.pem]);
  const managed = { ...of.spec.authority.managed, distrusted: [fingerprint] };
  return {
    ...of,
    spec: { ...of.spec, authority: { ...of.spec.authority, managed } },
  } as ClusterSigner;
}

const apply = (text: string): TargetChange => ({
  kind: 'apply',
  signerName: 'example.com/workload',
  text,
});

test('a namespace that consents gets the published anchors, and is then left alone', () => {
  assert.deepEqual(changeOf({}), apply(A.pem));
  assert.deepEqual(changeOf({ existing: configMap(A.pem) }), { kind: 'ignore' });
});

test('one that does not gets nothing, and loses what it had', () => {
  assert.deepEqual(changeOf({ consents: false }), { kind: 'ignore' });
  const existing = configMap(A.pem);
  assert.deepEqual(changeOf({ consents: false, existing }), { kind: 'delete', existing });
});

test('an object without our annotation is not ours, whatever the namespace says', () => {
  const { annotations: _, ...metadata } = configMap('').metadata;
  for (const existing of [configMap('', { metadata }), configMap('', {}, 'example.com/other')]) {
    assert.deepEqual(changeOf({ existing }), { kind: 'refused' });
    assert.deepEqual(changeOf({ existing, consents: false }), { kind: 'ignore' });
  }
});

test('another text, a second key and binary data are drift', () => {
  for (const existing of [
    configMap(B.pem),
    configMap(A.pem + B.pem),
    configMap(A.pem, { data: { 'ca.crt': A.pem, 'more.crt': B.pem } }),
    configMap(A.pem, { binaryData: { 'more.crt': '' } }),
  ])
    assert.deepEqual(changeOf({ existing }), apply(A.pem));
});

test('a truststore is written where it is wanted and removed where it is not', () => {
  const wanted = { kind: 'apply', signerName: 'example.com/workload', text: A.pem, store: 'AAAA' };
  const both = configMap(A.pem, { binaryData: { 'truststore.p12': 'AAAA' } });
  assert.deepEqual(changeOf({ store: 'AAAA' }), wanted);
  assert.deepEqual(changeOf({ store: 'AAAA', existing: configMap(A.pem) }), wanted);
  assert.deepEqual(changeOf({ store: 'AAAA', existing: both }), { kind: 'ignore' });
  assert.deepEqual(changeOf({ existing: both }), apply(A.pem));
  const drifted = configMap(A.pem, { binaryData: { 'truststore.p12': 'BBBB' } });
  assert.deepEqual(changeOf({ store: 'AAAA', existing: drifted }), wanted);
});

test('an anchor that another client put into the bundle is not copied', () => {
  const edited = { ...bundle, spec: { ...bundle.spec, trustBundle: A.pem + C.pem } };
  assert.deepEqual(changeOf({ bundle: edited }), apply(A.pem));
});

test('an anchor of the status is copied when it is published, and not before', () => {
  const coming = signerWith([A.pem, B.pem]);
  assert.deepEqual(changeOf({ signer: coming }), apply(A.pem));
});

test('distrust does not wait for the bundle, nor for a bundle to be there', () => {
  const both = served(planOf({ signer: signerWith([A.pem, B.pem]) }));
  const without = distrusting(A.fingerprint);
  assert.deepEqual(changeOf({ signer: without, bundle: both }), apply(B.pem));
  const existing = configMap(A.pem + B.pem);
  assert.deepEqual(changeOf({ signer: without, bundle: undefined, existing }), apply(B.pem));
  const last = configMap(A.pem);
  const emptied = changeOf({ signer: without, bundle: undefined, existing: last });
  assert.deepEqual(emptied, { kind: 'delete', existing: last });
});

test('a namespace that is being deleted gets no new copy, and loses what is distrusted', () => {
  const both = served(planOf({ signer: signerWith([A.pem, B.pem]) }));
  const ending = { isTerminating: true, signer: distrusting(A.fingerprint), bundle: both };
  assert.deepEqual(changeOf(ending), { kind: 'ignore' });
  assert.deepEqual(changeOf({ ...ending, existing: configMap(A.pem + B.pem) }), apply(B.pem));
});

test('while nothing is published what was copied stays', () => {
  const existing = configMap(A.pem);
  assert.deepEqual(changeOf({ bundle: undefined, existing }), { kind: 'ignore' });
  assert.deepEqual(changeOf({ bundle: undefined }), { kind: 'ignore' });
});

test('a copy whose text is too long to keep is not deleted for holding no anchor', () => {
  const kept = { isNeeded: () => true, maxText: 1000 };
  const existing = reduceConfigMap(configMap(A.pem.padEnd(1001, '\n')), kept);
  assert.deepEqual(changeOf({ existing }), apply(A.pem));
  assert.deepEqual(changeOf({ bundle: undefined, existing }), { kind: 'ignore' });
  assert.deepEqual(changeOf({ isPublished: false, existing }), { kind: 'ignore' });
});

test('an emptied copy of a missing or retired bundle is deleted', () => {
  const kept = { isNeeded: () => true, maxText: 1000 };
  const existing = reduceConfigMap(configMap(''), kept);
  const gone = { kind: 'delete', existing };
  assert.deepEqual(changeOf({ bundle: undefined, existing }), gone);
  assert.deepEqual(changeOf({ isPublished: false, existing }), gone);
  assert.deepEqual(changeOf({ isPublished: false, signer: undefined, existing }), gone);
  assert.deepEqual(changeOf({ existing }), apply(A.pem));
});

test('a retired copy loses what is distrusted or not in the bundle, and gains nothing', () => {
  const both = served(planOf({ signer: signerWith([A.pem, B.pem]) }));
  const retired = { isPublished: false, bundle: both };
  const existing = configMap(A.pem + B.pem);
  const without = distrusting(A.fingerprint);
  assert.deepEqual(changeOf({ ...retired, signer: without, existing }), apply(B.pem));
  const last = configMap(A.pem);
  const emptied = changeOf({ ...retired, signer: without, existing: last });
  assert.deepEqual(emptied, { kind: 'delete', existing: last });
  assert.deepEqual(changeOf({ ...retired, existing }), { kind: 'ignore' });
  assert.deepEqual(changeOf({ ...retired, existing: configMap(B.pem + C.pem) }), apply(B.pem));
  assert.deepEqual(changeOf({ ...retired, existing: configMap(B.pem) }), { kind: 'ignore' });
  assert.deepEqual(changeOf(retired), { kind: 'ignore' });
});

test('a distrusted key leaves a copy in every certificate, with or without a bundle', () => {
  const renewed = anchor('A renewed', 'A');
  const all = served(planOf({ signer: signerWith([A.pem, renewed.pem, B.pem]) }));
  const existing = configMap(renewed.pem + B.pem);
  const without = { signer: distrusting(A.fingerprint), existing };
  assert.deepEqual(changeOf({ ...without, bundle: undefined }), apply(B.pem));
  assert.deepEqual(changeOf({ ...without, isPublished: false, bundle: all }), apply(B.pem));
});

test('a retired copy goes with its bundle and with the consent, even without a signer', () => {
  const retired = { isPublished: false, signer: undefined };
  const existing = configMap(A.pem);
  assert.deepEqual(changeOf({ ...retired, existing }), { kind: 'ignore' });
  const gone = { kind: 'delete', existing };
  assert.deepEqual(changeOf({ ...retired, existing, consents: false }), gone);
  assert.deepEqual(changeOf({ ...retired, existing, bundle: undefined }), gone);
  const { annotations: _, ...metadata } = existing.metadata;
  const foreign = configMap(A.pem, { metadata });
  assert.deepEqual(changeOf({ ...retired, existing: foreign, bundle: undefined }), {
    kind: 'ignore',
  });
});
