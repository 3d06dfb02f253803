// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { reportUnmanagedBundles } from '#trust/attester/unmanaged-bundles.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { anchor, planOf, served, signerWith } from '../../support/trust/bundles.ts';

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
  assert.deepEqual(component.counted, [['foreign', { signer: who.spec.signerName }, found.length]]);
  return found;
};

const other = named('example.com:workload:evil', {});

test('a foreign bundle with our signer name adds trust and is reported', () => {
  assert.deepEqual(namesOf([own, other]), ['example.com:workload:evil']);
});

test('a bundle of another installation counts as foreign', () => {
  const annotations = {
    ...own.metadata.annotations,
    'countersign.dev/secret-namespace': 'other-keys',
  };
  assert.equal(namesOf([named('example.com:workload:theirs', annotations)]).length, 1);
});

test('published and retired bundles of ours are not foreign', () => {
  assert.deepEqual(namesOf([own, named('example.com:workload:before')]), []);
});

test('a bundle whose name is not in the ClusterRole is foreign, whatever it claims', () => {
  const forged = named('example.com:workload:evil');
  assert.deepEqual(namesOf([own, forged], signer, { has: () => false }), [
    'example.com:workload:evil',
  ]);
  // Until it was looked up nobody knows, and nobody is warned in vain.
  assert.deepEqual(namesOf([own, forged], signer, { has: () => undefined }), []);
});

test('bundles of other signer names, or of none, are ignored', () => {
  const elsewhere = { ...other, spec: { ...other.spec, signerName: 'example.com/other' } };
  const unlinked = { ...other, spec: { trustBundle: own.spec.trustBundle } };
  assert.deepEqual(namesOf([elsewhere, unlinked]), []);
});

test('a ClusterSigner without a bundle reports every bundle of its signer name', () => {
  const silent = workload({ trustBundle: undefined });
  assert.deepEqual(namesOf([other], silent), ['example.com:workload:evil']);
});

test('each foreign bundle gets an Event with the remedy, and all are counted', () => {
  const component = recordedComponent();
  reportUnmanagedBundles(component, signer, [own, other], LISTED);
  assert.deepEqual(component.counted, [['foreign', { signer: 'example.com/workload' }, 1]]);
  const [note] = component.notes;
  assert.equal(component.notes.length, 1);
  assert.equal(note?.regarding.name, 'example.com:workload:evil');
  assert.equal(note.regarding.uid, 'uid-of-example.com:workload:evil');
  assert.deepEqual([note.type, note.reason], ['Warning', 'ForeignBundle']);
  assert.match(note.note, /ClusterSigner workload does not publish it; delete it/);
});

test('a count of zero is reported when the last foreign bundle is deleted', () => {
  const component = recordedComponent();
  reportUnmanagedBundles(component, signer, [own], LISTED);
  assert.deepEqual(component.counted, [['foreign', { signer: 'example.com/workload' }, 0]]);
  assert.deepEqual(component.notes, []);
});
