// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { AuthorityPhase } from '#api/signer/cluster-signer.ts';
import {
  HOUR,
  NOW,
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
} from '../../support/trust/bundles.ts';

const [A, B] = [anchor('A'), anchor('B')];
const signer = signerWith([A.pem]);
const published = served(planOf({ signer }));

const blocks = (pem: string): readonly string[] => pem.split(/(?<=-----END CERTIFICATE-----\n)/);

test('a ClusterSigner with a known CA gets a bundle with its name and signer name', () => {
  const plan = planOf({ signer });
  assert.ok(plan.kind === 'create');
  const { metadata, spec } = plan.bundle;
  assert.equal(metadata.name, 'example.com:workload:primary');
  assert.equal(spec.signerName, 'example.com/workload');
  assert.equal(new X509Certificate(spec.trustBundle).subject, 'CN=A');
  assert.equal(metadata.labels?.['team'], 'a');
});

test('an up-to-date bundle is not written again', () => {
  assert.deepEqual(planOf({ signer, bundle: published }), { kind: 'ignore' });
  assert.deepEqual(planOf({ signer, bundle: published, now: NOW + HOUR }), { kind: 'ignore' });
});

test('the same CAs in any order, with duplicates, give the same text', () => {
  const bundle = served(planOf({ signer: signerWith([A.pem, B.pem]) }));
  const again = signerWith([B.pem + A.pem, A.pem]);
  assert.deepEqual(planOf({ signer: again, bundle }), { kind: 'ignore' });
  assert.deepEqual(new Set(blocks(bundle.spec.trustBundle)), new Set([A.pem, B.pem]));
  assert.equal(blocks(bundle.spec.trustBundle).length, 2);
});

test('the anchor of the CA that signs comes first, and moves once another CA signs', () => {
  const inPhases = (phases: readonly AuthorityPhase[]): ReturnType<typeof signerWith> => {
    const made = signerWith([A.pem, B.pem]);
    const authorities = (made.status?.authorities ?? []).map((each, at) => ({
      ...each,
      phase: phases[at] ?? each.phase,
    }));
    return { ...made, status: { ...made.status, authorities } };
  };
  const preparing = served(planOf({ signer: inPhases(['Active', 'Prepared']) }));
  assert.deepEqual(blocks(preparing.spec.trustBundle), [A.pem, B.pem]);
  const mirrored = served(planOf({ signer: inPhases(['Prepared', 'Active']) }));
  assert.deepEqual(blocks(mirrored.spec.trustBundle), [B.pem, A.pem]);
  const activated = planOf({ signer: inPhases(['Retiring', 'Active']), bundle: preparing });
  assert.ok(activated.kind === 'update' && !activated.repaired);
  assert.deepEqual(blocks(activated.bundle.spec.trustBundle), [B.pem, A.pem]);
  const bundle = served(activated);
  assert.deepEqual(planOf({ signer: inPhases(['Retiring', 'Active']), bundle }), {
    kind: 'ignore',
  });
});

test('another CA gives an update with the resourceVersion that was read', () => {
  const plan = planOf({ signer: signerWith([A.pem, B.pem]), bundle: published });
  assert.ok(plan.kind === 'update' && !plan.repaired);
  assert.equal(plan.bundle.metadata.resourceVersion, '7');
  assert.equal(plan.bundle.metadata.uid, 'b-1');
});

const edits: [law: string, trustBundle: string][] = [
  ['an anchor put in by somebody else', A.pem + B.pem],
  ['an anchor exchanged by somebody else', B.pem],
  ['a text that holds no certificate', 'nothing'],
];

for (const [law, trustBundle] of edits) {
  test(`repaired: ${law}`, () => {
    const edited = { ...published, spec: { ...published.spec, trustBundle } };
    const plan = planOf({ signer, bundle: edited });
    assert.ok(plan.kind === 'update' && plan.repaired);
    assert.equal(plan.bundle.spec.trustBundle, A.pem);
  });
}

test('labels of the spec are restored, and other labels stay', () => {
  const labels = { theirs: 'x' };
  const bundle = { ...published, metadata: { ...published.metadata, labels } };
  const plan = planOf({ signer, bundle });
  assert.ok(plan.kind === 'update');
  assert.deepEqual(plan.bundle.metadata.labels, { ...published.metadata.labels, theirs: 'x' });
});

test('foreign annotations do not cause a write', () => {
  const bundle = annotated(published, { 'example.com/note': 'x' });
  assert.deepEqual(planOf({ signer, bundle }), { kind: 'ignore' });
});

test('while no CA is known nothing is published, and a published bundle stays', () => {
  assert.deepEqual(planOf({ signer: signerWith([]) }), { kind: 'ignore' });
  assert.deepEqual(planOf({ signer: signerWith([]), bundle: published }), { kind: 'ignore' });
});
