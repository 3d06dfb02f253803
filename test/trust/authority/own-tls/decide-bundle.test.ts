// SPDX-License-Identifier: Apache-2.0
/** The ConfigMap that scrapers read: what is written into it, and since when it counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { ConfigMap } from '#api/object/object.ts';
import {
  decideBundle,
  type BundlePlan,
  type ConfigMapLook,
} from '#trust/authority/own-tls/decide-bundle.ts';
import { readableFrom } from '#trust/authority/own-tls/readable-from.ts';
import { encodePem } from '#pki/der/pem.ts';
import { NOW } from '../../../support/ca/issuing.ts';
import { CA, SIGNER_NAME, caOf, secretWith } from '../../../support/trust/own-tls-stage.ts';

const NEXT = await caOf('Countersign serving CA', NOW - 1000);
const pemOf = ({ facts }: typeof CA): string => encodePem('CERTIFICATE', facts.certificate.raw);
const print = ({ facts }: typeof CA): string => facts.fingerprint;
const HOUR = 3_600_000;
const iso = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z');

const metadata = {
  namespace: 'countersign-system',
  name: 'countersign-serving-ca',
  uid: 'c-1',
  resourceVersion: '5',
  creationTimestamp: '2026-05-01T00:00:00Z',
};

function bundle(...of: readonly (typeof CA)[]): ClusterTrustBundle {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { ...metadata, name: 'countersign.dev:serving:primary' },
    spec: { signerName: SIGNER_NAME, trustBundle: of.map(pemOf).join('') },
  };
}

function configMap(
  since: Readonly<Record<string, string>> | undefined,
  anchors: string | undefined,
  more: { readonly filledBy?: string; readonly immutable?: boolean } = {},
): ConfigMapLook {
  const { filledBy = SIGNER_NAME, ...rest } = more;
  const annotations = {
    'countersign.dev/filled-by': filledBy,
    ...(since === undefined ? {} : { 'countersign.dev/served-since': JSON.stringify(since) }),
  };
  const data = anchors === undefined ? {} : { data: { 'ca.crt': anchors } };
  const found: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, annotations },
    ...data,
    ...rest,
  };
  return { kind: 'found', configMap: found };
}

function planOf(
  look: ConfigMapLook,
  published?: ClusterTrustBundle,
  distrusted: readonly string[] = [],
): BundlePlan {
  return decideBundle({
    name: 'countersign-system/countersign-serving-ca',
    configMap: look,
    signerName: SIGNER_NAME,
    bundle: published,
    now: NOW,
    isDistrusted: (fingerprint) => distrusted.includes(fingerprint),
  });
}

function sinceOf(plan: BundlePlan): unknown {
  assert.ok(plan.kind === 'write');
  return JSON.parse(plan.servedSince);
}

const published = { [print(CA)]: iso(NOW - HOUR) };

test('an empty ConfigMap gets the published anchors with the present time', () => {
  const plan = planOf(configMap(undefined, undefined), bundle(CA));
  assert.equal(plan.kind === 'write' && plan.anchors, pemOf(CA));
  assert.deepEqual(sinceOf(plan), { [print(CA)]: iso(NOW) });
});

test('an up-to-date ConfigMap is not written', () => {
  assert.equal(planOf(configMap(published, pemOf(CA)), bundle(CA)).kind, 'keep');
});

test('an added anchor gets the present time, and the others keep theirs', () => {
  const plan = planOf(configMap(published, pemOf(CA)), bundle(CA, NEXT));
  assert.deepEqual(sinceOf(plan), { ...published, [print(NEXT)]: iso(NOW) });
});

test('an anchor that was edited out and returns gets the present time', () => {
  const plan = planOf(configMap(published, ''), bundle(CA));
  assert.deepEqual(sinceOf(plan), { [print(CA)]: iso(NOW) });
});

test('unreadable contents are overwritten', () => {
  assert.deepEqual(sinceOf(planOf(configMap(published, 'no PEM'), bundle(CA))), {
    [print(CA)]: iso(NOW),
  });
});

test('without a published bundle the ConfigMap stays', () => {
  assert.equal(planOf(configMap(published, pemOf(CA))).kind, 'keep');
});

test('a distrusted root is removed at once, with or without a published bundle', () => {
  const look = configMap(published, pemOf(CA) + pemOf(NEXT));
  for (const bundled of [undefined, bundle(CA, NEXT)]) {
    const plan = planOf(look, bundled, [print(CA)]);
    assert.equal(plan.kind === 'write' && plan.anchors, pemOf(NEXT));
  }
  const empty = planOf(configMap(published, pemOf(CA)), undefined, [print(CA)]);
  assert.equal(empty.kind === 'write' && empty.anchors, '');
  assert.deepEqual(sinceOf(empty), {});
});

test('a failed read does not count as a missing ConfigMap', () => {
  assert.equal(planOf({ kind: 'unknown' }, bundle(CA)).kind, 'keep');
});

const never: readonly [law: string, look: ConfigMapLook, why: RegExp][] = [
  ['one that is not there', { kind: 'missing' }, /does not exist/],
  [
    'one whose owner did not consent',
    configMap(undefined, undefined, { filledBy: '' }),
    /may not be filled in by Countersign/,
  ],
  ['one that is immutable', configMap(undefined, undefined, { immutable: true }), /immutable/],
];

for (const [law, look, why] of never) {
  test(`${law} is never written, and the reason is reported`, () => {
    const plan = planOf(look, bundle(CA));
    assert.match(plan.kind === 'wait' ? plan.why : '', why);
  });
}

/** Seconds from now on until leaves of NEXT may be shown. */
function waits(look: ConfigMapLook, annotations: Readonly<Record<string, string>> = {}): unknown {
  const from = readableFrom({
    authority: NEXT,
    secret: secretWith(undefined, { annotations }),
    configMap: look,
    signerName: SIGNER_NAME,
    propagationSeconds: 600,
    now: NOW,
  });
  return from === undefined ? 'until it is there' : Math.max(0, (from - NOW) / 1000);
}

const both = pemOf(CA) + pemOf(NEXT);
const young = { ...published, [print(NEXT)]: iso(NOW - 100_000) };

const gates: readonly [law: string, look: ConfigMapLook, waits: unknown][] = [
  ['one that took the place of another is not exempt', configMap(young, pemOf(NEXT)), 500],
  ['the only one that was ever in it', configMap({ [print(NEXT)]: iso(NOW) }, pemOf(NEXT)), 0],
  ['one that is not in it yet', configMap(published, pemOf(CA)), 'until it is there'],
  ['one that is in it for 100 s of 600', configMap(young, both), 500],
  ['before it could be read', { kind: 'unknown' }, 'until it is there'],
  ['where there is none, nobody is waited for', { kind: 'missing' }, 0],
  [
    'where it is another’s, nobody is waited for',
    configMap(published, pemOf(CA), { filledBy: 'x' }),
    0,
  ],
];

for (const [law, look, wanted] of gates) {
  test(`${law}: leaves of the new CA wait ${String(wanted)}`, () => {
    assert.equal(waits(look), wanted);
  });
}

test('a CA that replaces a distrusted one signs as soon as its anchor is readable', () => {
  assert.equal(waits(configMap(young, both), { 'countersign.dev/signs-at-once': print(NEXT) }), 0);
});
