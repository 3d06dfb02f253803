// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Secret } from '#api/object/object.ts';
import type { Condition } from '#api/request/conditions.ts';
import { materialOf, usableAuthority, type UsableInput } from '#requests/ca/usable-authority.ts';
import { NOW, ca, keyIds, link, usage } from '../../support/pki/chain.ts';
import { ROOT, openIntermediate } from '../../support/ca/intermediate.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const authority = openIntermediate();
const own = link('other', { extensions: [ca(), usage(), ...keyIds('other')] });
const OTHER = new X509Certificate(own.certificate.raw);
const print = (of: X509Certificate): string =>
  `sha256:${of.fingerprint256.replaceAll(':', '').toLowerCase()}`;

function ready(condition: Partial<Condition> = {}, observedGeneration = 1): ClusterSigner {
  const conditions = [{ type: 'Ready', status: 'True' as const, reason: 'Checked', ...condition }];
  return workload({}, { status: { observedGeneration, conditions } });
}

function secret(signerName = 'example.com/workload'): Secret {
  const annotations = { 'countersign.dev/signer-name': signerName };
  const metadata = { ...workload().metadata, name: 'workload-ca', annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata };
}

/**
 * The bundle with these anchors, and since when, in seconds before now, each is said to be served.
 */
function bundle(
  anchors: readonly X509Certificate[],
  since: readonly (readonly [X509Certificate, number])[],
): ClusterTrustBundle {
  const times = since.map(([of, age]) => [print(of), new Date(NOW - age * 1000).toISOString()]);
  const annotations = { 'countersign.dev/served-since': JSON.stringify(Object.fromEntries(times)) };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { ...workload().metadata, name: 'example.com:workload:primary', annotations },
    spec: { signerName: 'example.com/workload', trustBundle: anchors.join('') },
  };
}

const use = (more: Partial<UsableInput> = {}): unknown =>
  usableAuthority({
    signer: ready(),
    secret: secret(),
    bundle: bundle([ROOT], [[ROOT, 0]]),
    open: () => authority,
    last: () => undefined,
    propagationSeconds: 600,
    now: NOW,
    ...more,
  });

test('a checked, granted and published CA signs, at once if its anchor is the first', () => {
  assert.equal(use(), authority);
});

const both = [ROOT, OTHER];
const refusals: [law: string, more: Partial<UsableInput>, code: string, message: RegExp][] = [
  [
    'nobody has checked it',
    { signer: workload() },
    'AUTHORITY_MISSING',
    /has not been checked by the authority/,
  ],
  [
    'an older spec was checked',
    { signer: ready({}, 0) },
    'AUTHORITY_MISSING',
    /has not been checked/,
  ],
  [
    'it is not ready, and why is passed on',
    { signer: ready({ status: 'False', reason: 'NoTrustAnchor', message: 'no root' }) },
    'AUTHORITY_MISSING',
    /is not ready: NoTrustAnchor: no root$/,
  ],
  ['there is no Secret', { secret: undefined }, 'AUTHORITY_MISSING', /does not exist/],
  [
    'its Secret is granted to another',
    { secret: secret('example.com/x') },
    'AUTHORITY_MISSING',
    /lacks the annotation/,
  ],
  ['it has expired', { now: authority.facts.notAfter }, 'AUTHORITY_EXPIRED', /has expired/],
  [
    'there is no bundle yet',
    { bundle: undefined },
    'ANCHOR_NOT_SERVED',
    /is not in the published bundle/,
  ],
  [
    'its anchor is not published',
    { bundle: bundle([OTHER], [[OTHER, 999]]) },
    'ANCHOR_NOT_SERVED',
    /not in the/,
  ],
  [
    'its anchor is said to be published, and is not',
    {
      bundle: bundle(
        [OTHER],
        [
          [OTHER, 999],
          [ROOT, 998],
        ],
      ),
    },
    'ANCHOR_NOT_SERVED',
    /not in the/,
  ],
  [
    'since when is not known',
    { bundle: bundle(both, [[OTHER, 999]]) },
    'ANCHOR_NOT_SERVED',
    /not in the/,
  ],
  [
    'it was added a moment ago',
    {
      bundle: bundle(both, [
        [OTHER, 9999],
        [ROOT, 599],
      ]),
    },
    'ANCHOR_NOT_SERVED',
    /starts at 2026-06-01T00:00:01/,
  ],
];

for (const [law, more, code, message] of refusals) {
  test(`a CA does not sign, and no request fails for it: ${law}`, () => {
    assert.throws(() => use(more), { code, disposition: 'authority', message });
  });
}

test('a CA with an added anchor signs after the propagation time', () => {
  assert.equal(
    use({
      bundle: bundle(both, [
        [OTHER, 9999],
        [ROOT, 600],
      ]),
    }),
    authority,
  );
});

test('without spec.trustBundle a CA signs without waiting', () => {
  const { status } = ready();
  assert.ok(status !== undefined);
  const signer = workload({ trustBundle: undefined }, { status });
  assert.equal(use({ signer, bundle: undefined }), authority);
});

test('the key of a Secret that is not granted is not read', () => {
  const open = (): never => assert.fail('it was opened');
  assert.throws(() => use({ secret: secret('example.com/x'), open }), {
    code: 'AUTHORITY_MISSING',
  });
});

test('an empty ca.crt counts as absent, and other values stay as they are stored', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const data = { 'tls.crt': base64('C'), 'tls.key': base64('K'), 'ca.crt': '' };
  const expected = { certificate: 'C', key: 'K', anchors: undefined };
  assert.deepEqual(materialOf({ ...secret(), data }), expected);
  assert.deepEqual(materialOf(secret()), { certificate: '', key: '', anchors: undefined });
  const anchors = materialOf({ ...secret(), data: { ...data, 'ca.crt': base64('A') } });
  assert.equal(anchors.anchors, 'A');
});
