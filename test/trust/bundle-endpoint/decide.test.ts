// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  decideServedBundle,
  type BundleDecision,
  type Publication,
  type ServedBundle,
} from '#trust/bundle-endpoint/decide.ts';
import { anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';
import { ca, link } from '../../support/pki/chain.ts';
import { privateKey } from '../../support/pki/keys.ts';
import { pemOf } from '../../support/trust/certificates.ts';

const [A, B, C] = [anchor('A'), anchor('B'), anchor('C')];
const signerName = 'example.com/workload';

/** A published bundle of these anchors, as of a resourceVersion. */
function published(anchors: readonly string[], resourceVersion: string): ClusterTrustBundle {
  const bundle = served(planOf({ signer: signerWith(anchors) }));
  return { ...bundle, metadata: { ...bundle.metadata, resourceVersion } };
}

function distrusting(anchors: readonly string[], fingerprint: string): ClusterSigner {
  const of = signerWith(anchors);
  const managed = { ...of.spec.authority.managed, distrusted: [fingerprint] };
  return {
    ...of,
    spec: { ...of.spec, authority: { ...of.spec.authority, managed } },
  } as ClusterSigner;
}

function looked(publications: readonly Publication[], before?: ServedBundle): BundleDecision {
  const secretNamespace = 'countersign-keys';
  return decideServedBundle({ publications, before, secretNamespace, refreshSeconds: 120 });
}

/** The sequence and the number of keys that are served. */
function answer({ served: found }: BundleDecision): readonly [number, number] | undefined {
  if (found === undefined) return undefined;
  const { spiffe_sequence: sequence, keys } = JSON.parse(found.text) as {
    readonly spiffe_sequence: number;
    readonly keys: readonly unknown[];
  };
  return [sequence, keys.length];
}

const one = (
  signer: ClusterSigner | undefined,
  bundle: ClusterTrustBundle | undefined,
): readonly Publication[] => [{ signerName, signer, bundle }];
const good = looked(one(signerWith([A.pem]), published([A.pem], '7')));

test('what is published is served, with its resourceVersion as the sequence', () => {
  assert.deepEqual(answer(good), [7, 1]);
  assert.equal(good.problem, undefined);
  const now = looked(one(signerWith([A.pem, B.pem]), published([A.pem, B.pem], '9')), good.served);
  assert.deepEqual(answer(now), [9, 2]);
});

test('a bundle without a certificate is not served, as it would revoke every SVID', () => {
  const empty = { ...published([A.pem], '9'), spec: { signerName, trustBundle: '' } };
  const now = looked(one(signerWith([A.pem]), empty));
  assert.equal(answer(now), undefined);
  assert.match(now.problem ?? '', /no bundle of the trust domain holds a certificate/);
});

test('several signers of a trust domain are one bundle, dated by the last change', () => {
  const other = { ...published([B.pem], '12'), metadata: published([B.pem], '12').metadata };
  const both = [
    ...one(signerWith([A.pem]), published([A.pem], '7')),
    { signerName: 'example.com/other', signer: signerWith([B.pem]), bundle: other },
  ];
  assert.deepEqual(answer(looked(both)), [12, 2]);
  const twice = [...both, ...one(signerWith([A.pem]), published([A.pem], '7'))];
  assert.deepEqual(answer(looked(twice)), [12, 2]);
});

test('a bundle with an anchor that its signer does not name replaces nothing served', () => {
  const forged = one(signerWith([A.pem]), published([A.pem, C.pem], '9'));
  assert.equal(looked(forged).served, undefined);
  const now = looked(forged, good.served);
  assert.deepEqual(answer(now), [7, 1]);
  assert.match(now.problem ?? '', /holds 1 certificate that its ClusterSigner does not name/);
});

test('a distrusted anchor is no longer served, and not before the bundle lacks it', () => {
  const two = looked(one(signerWith([A.pem, B.pem]), published([A.pem, B.pem], '9')));
  const distrusted = distrusting([A.pem, B.pem], B.fingerprint);
  assert.equal(
    looked(one(distrusted, published([A.pem, B.pem], '9')), two.served).served,
    undefined,
  );
  const out = looked(one(distrusted, published([A.pem], '10')), two.served);
  assert.deepEqual(answer(out), [10, 1]);
});

test('without a known signer, what was served stays while the bundle has it', () => {
  const orphan = one(undefined, published([A.pem], '9'));
  assert.equal(looked(orphan).served, undefined);
  assert.deepEqual(answer(looked(orphan, good.served)), [7, 1]);
  const emptied = one(undefined, published([B.pem], '9'));
  assert.equal(looked(emptied, good.served).served, undefined);
});

test('a bundle that is gone, or that another installation published, is not served', () => {
  assert.equal(looked(one(signerWith([A.pem]), undefined), good.served).served, undefined);
  const foreign = published([A.pem], '9');
  const { annotations: _, ...metadata } = foreign.metadata;
  const now = looked(one(signerWith([A.pem]), { ...foreign, metadata }));
  assert.equal(now.served, undefined);
  assert.match(now.problem ?? '', /not published by this installation/);
});

test('an ML-DSA anchor, which go-spiffe refuses, is left out and not served alone', () => {
  const key = privateKey('ML-DSA-65');
  const pem = pemOf(link('M', { key, extensions: [ca()] }));
  const both = looked(one(signerWith([A.pem, pem]), published([A.pem, pem], '9')));
  assert.deepEqual(answer(both), [9, 1]);
  assert.match(both.leftOut ?? '', /1 of 2 anchors/);
  const alone = looked(one(signerWith([pem]), published([pem], '9')));
  assert.equal(alone.served, undefined);
  assert.match(alone.problem ?? '', /1 of 1 anchors/);
});
