// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caBundleObject, type CaBundleObject } from '#api/object/ca-bundle-object.ts';
import { decideCaBundle, type CaBundleChange } from '#trust/trust-distributor/decide-ca-bundle.ts';
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import type { PublishedBundle } from '#ca/rotation/retained-anchors.ts';
import { NOW, anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';

const [A, B] = [anchor('A'), anchor('B')];
const signer = signerWith([A.pem]);
const published: PublishedBundle = {
  signer,
  bundle: served(planOf({ signer })),
  secretNamespace: 'countersign-keys',
  now: NOW,
  clocksApart: false,
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function object(resource: CaBundleTarget['resource'], body: object): CaBundleObject {
  const metadata = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
  return caBundleObject(resource, { apiVersion: 'v1', kind: 'X', metadata, ...body });
}

const service = { namespace: 'a', name: 'hook' };

/** Of each kind one, whose places hold this text. */
function eachKind(caBundle: string | undefined): readonly CaBundleObject[] {
  const clientConfig = { service, ...(caBundle === undefined ? {} : { caBundle }) };
  return [
    object('validatingwebhookconfigurations', { webhooks: [{ clientConfig }] }),
    object('mutatingwebhookconfigurations', { webhooks: [{ clientConfig }] }),
    object('apiservices', { spec: clientConfig }),
    object('customresourcedefinitions', { spec: { conversion: { webhook: { clientConfig } } } }),
  ];
}

const PATHS = [
  '/webhooks/0/clientConfig/caBundle',
  '/webhooks/0/clientConfig/caBundle',
  '/spec/caBundle',
  '/spec/conversion/webhook/clientConfig/caBundle',
];

test('each kind gets the anchors at its own place, and is then left alone', () => {
  for (const before of [undefined, '', base64(B.pem), base64('none')]) {
    for (const [index, each] of eachKind(before).entries()) {
      const places = [{ path: PATHS[index] ?? '', text: A.pem }];
      assert.deepEqual(decideCaBundle(each, published), { kind: 'apply', places });
    }
  }
  for (const each of eachKind(base64(A.pem)))
    assert.deepEqual(decideCaBundle(each, published), { kind: 'ignore' });
});

test('of several webhooks those that differ are written', () => {
  const clientConfig = { service, caBundle: base64(A.pem) };
  const webhooks = [{ clientConfig }, { clientConfig: { service } }];
  const places = [{ path: '/webhooks/1/clientConfig/caBundle', text: A.pem }];
  const of = object('validatingwebhookconfigurations', { webhooks });
  assert.deepEqual(decideCaBundle(of, published), { kind: 'apply', places });
});

test('neither an API server’s own API nor a definition without a webhook has a place', () => {
  for (const each of [
    object('apiservices', { spec: { service: null } }),
    object('customresourcedefinitions', { spec: { conversion: { strategy: 'None' } } }),
    object('mutatingwebhookconfigurations', {}),
  ])
    assert.deepEqual(decideCaBundle(each, published), { kind: 'ignore' });
});

test('what names no signer that publishes is left alone; what is gone is no target', () => {
  for (const each of eachKind(base64(B.pem)))
    assert.deepEqual(decideCaBundle(each, undefined), { kind: 'refused' });
  assert.deepEqual(decideCaBundle(undefined, undefined), { kind: 'ignore' });
});

test('while nothing is published only what is distrusted leaves', () => {
  const managed = { ...signer.spec.authority.managed, distrusted: [A.fingerprint] };
  const distrusting = {
    ...signer,
    spec: { ...signer.spec, authority: { ...signer.spec.authority, managed } },
  } as PublishedBundle['signer'];
  const unpublished = { ...published, bundle: undefined };
  const [webhook] = eachKind(base64(A.pem + B.pem));
  assert.ok(webhook);
  assert.deepEqual(decideCaBundle(webhook, unpublished), { kind: 'ignore' });
  const change: CaBundleChange = decideCaBundle(webhook, { ...unpublished, signer: distrusting });
  const places = [{ path: PATHS[0] ?? '', text: B.pem }];
  assert.deepEqual(change, { kind: 'apply', places });
});
