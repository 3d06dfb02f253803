// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '../../../src/api/object/cluster-trust-bundle.ts';
import { reportUnmanagedBundles } from '../../../src/controllers/attester/unmanaged-bundles.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { anchor, planOf, served, signerWith } from '../../support/controllers/bundles.ts';

const signer = signerWith([anchor('A').pem]);
const own = served(planOf({ signer }));

function named(name: string, annotations = own.metadata.annotations ?? {}): ClusterTrustBundle {
  return { ...own, metadata: { ...own.metadata, name, uid: `uid-of-${name}`, annotations } };
}

/** Names of our role, as far as they were looked up. */
const LISTED = { has: () => true };

const namesOf = (
  bundles: readonly ClusterTrustBundle[],
  who = signer,
  names: { has(name: string): boolean | undefined } = LISTED,
): readonly (string | undefined)[] => {
  const component = recordedComponent();
  reportUnmanagedBundles(component, who, bundles, names);
  const found = component.notes.map(({ regarding }) => regarding.name);
  assert.deepEqual(component.counted, [['foreignBundles', who.spec.signerName, found.length]]);
  return found;
};

const other = named('example.com:workload:evil', {});

test('a bundle under our signer name that we do not publish adds trust: it is named', () => {
  assert.deepEqual(namesOf([own, other]), ['example.com:workload:evil']);
});

test('one of another installation is as foreign as any', () => {
  const annotations = {
    ...own.metadata.annotations,
    'countersign.dev/secret-namespace': 'other-keys',
  };
  assert.equal(namesOf([named('example.com:workload:theirs', annotations)]).length, 1);
});

test('ours are not foreign: the published one, and one that is retired', () => {
  assert.deepEqual(namesOf([own, named('example.com:workload:before')]), []);
});

test('one that only says it is ours is foreign: its name is none that our role lists', () => {
  const forged = named('example.com:workload:evil');
  assert.deepEqual(namesOf([own, forged], signer, { has: () => false }), [
    'example.com:workload:evil',
  ]);
  // Until it was looked up nobody knows, and nobody is warned in vain.
  assert.deepEqual(namesOf([own, forged], signer, { has: () => undefined }), []);
});

test('bundles of other signers, and of none, are none of our business', () => {
  const elsewhere = { ...other, spec: { ...other.spec, signerName: 'example.com/other' } };
  const unlinked = { ...other, spec: { trustBundle: own.spec.trustBundle } };
  assert.deepEqual(namesOf([elsewhere, unlinked]), []);
});

test('a ClusterSigner that publishes nothing is told of every bundle under its name', () => {
  const silent = workload({ trustBundle: undefined });
  assert.deepEqual(namesOf([other], silent), ['example.com:workload:evil']);
});

test('each is told on the bundle itself, with what to do, and all are counted', () => {
  const component = recordedComponent();
  reportUnmanagedBundles(component, signer, [own, other], LISTED);
  assert.deepEqual(component.counted, [['foreignBundles', 'example.com/workload', 1]]);
  const [note] = component.notes;
  assert.equal(component.notes.length, 1);
  assert.equal(note?.regarding.name, 'example.com:workload:evil');
  assert.equal(note.regarding.uid, 'uid-of-example.com:workload:evil');
  assert.deepEqual([note.type, note.reason], ['Warning', 'ForeignBundle']);
  assert.match(note.note, /ClusterSigner workload does not publish it; delete it/);
});

test('none is counted too: the count falls when the last has gone', () => {
  const component = recordedComponent();
  reportUnmanagedBundles(component, signer, [own], LISTED);
  assert.deepEqual(component.counted, [['foreignBundles', 'example.com/workload', 0]]);
  assert.deepEqual(component.notes, []);
});
