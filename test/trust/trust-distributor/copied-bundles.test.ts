// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  copiedBundles,
  type CopiedBundlesSnapshot,
} from '#trust/trust-distributor/copied-bundles.ts';
import { anchor, annotated, planOf, served, signerWith } from '../../support/trust/bundles.ts';

const NAME = 'example.com.workload.primary';
const signer = signerWith([anchor('A').pem]);
const bundle = served(planOf({ signer }));

function copied(more: Partial<CopiedBundlesSnapshot>): ReturnType<typeof copiedBundles> {
  return copiedBundles({
    signers: [],
    bundles: [],
    secretNamespace: 'countersign-keys',
    before: new Map(),
    hasCopies: () => false,
    ...more,
  });
}

const before = copied({ signers: [signer] });

test('a published bundle is copied before it exists', () => {
  assert.equal(before.get(NAME)?.publisher, signer);
  assert.equal(before.size, 1);
});

test('a bundle that no signer publishes is retired while it exists', () => {
  const { publisher, ...retired } = copied({ bundles: [bundle] }).get(NAME) ?? {};
  assert.equal(publisher, undefined);
  assert.deepEqual(retired, {
    bundle: 'example.com:workload:primary',
    signerName: 'example.com/workload',
    clusterSigner: signer.metadata.name,
  });
  assert.equal(
    copied({ bundles: [bundle], before, signers: [signer] }).get(NAME)?.publisher,
    signer,
  );
});

test('a retired bundle that is gone stays known until its last copy is gone', () => {
  assert.equal(copied({ before, hasCopies: () => true }).has(NAME), true);
  assert.equal(copied({ before }).has(NAME), false);
});

test('a bundle of another installation is not copied', () => {
  const foreign = annotated(bundle, { 'countersign.dev/secret-namespace': 'other' });
  assert.equal(copied({ bundles: [foreign] }).size, 0);
  assert.equal(copied({ bundles: [foreign], before, hasCopies: () => true }).size, 0);
});

test('many retired bundles cost a bounded number of watches', () => {
  const bundles = Array.from({ length: 1000 }, (_, index) => {
    return { ...bundle, metadata: { ...bundle.metadata, name: `example.com:workload:x${index}` } };
  });
  assert.equal(copied({ bundles, signers: [signer] }).size, 65);
});
