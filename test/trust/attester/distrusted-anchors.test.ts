// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { anchorFingerprints } from '#pki/x509/trust-bundle.ts';
import {
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
  type Anchor,
} from '../../support/trust/bundles.ts';

const [A, B] = [anchor('A'), anchor('B')];

function distrusting(anchors: readonly Anchor[], distrusted: readonly Anchor[]): ClusterSigner {
  const signer = signerWith(anchors.map(({ pem }) => pem));
  const { managed } = signer.spec.authority;
  assert.ok(managed !== undefined);
  const prints = distrusted.map(({ fingerprint }) => fingerprint);
  const authority = { managed: { ...managed, distrusted: prints } };
  return { ...signer, spec: { ...signer.spec, authority } };
}

const both = served(planOf({ signer: signerWith([A.pem, B.pem]) }));
const only = served(planOf({ signer: signerWith([A.pem]) }));

test('a distrusted CA leaves the bundle at once, even if leaves of it are valid', () => {
  const plan = planOf({ signer: distrusting([A, B], [A]), bundle: both });
  assert.ok(plan.kind === 'update' && !plan.repaired);
  assert.deepEqual(anchorFingerprints(plan.bundle.spec.trustBundle), new Set([B.fingerprint]));
});

test('attester deletes a bundle without a trusted anchor, since none can be empty', () => {
  const signer = distrusting([A], [A]);
  assert.deepEqual(planOf({ signer, bundle: only }), { kind: 'delete', bundle: only });
  assert.deepEqual(planOf({ signer }), { kind: 'ignore' });
});

test('published anchors stay before the CAs are known, except distrusted ones', () => {
  assert.deepEqual(planOf({ signer: distrusting([], []), bundle: both }), { kind: 'ignore' });
  const plan = planOf({ signer: distrusting([], [A]), bundle: both });
  assert.deepEqual(anchorFingerprints(served(plan).spec.trustBundle), new Set([B.fingerprint]));
  assert.deepEqual(planOf({ signer: distrusting([], [A]), bundle: only }), {
    kind: 'delete',
    bundle: only,
  });
});

test('a distrusted CA also leaves an unpublished bundle, which pods may still mount', () => {
  const serving = distrusting([B], [A]);
  const plan = planOf({ serving, bundle: both });
  assert.deepEqual(anchorFingerprints(served(plan).spec.trustBundle), new Set([B.fingerprint]));
  assert.deepEqual(planOf({ serving, bundle: only }), { kind: 'delete', bundle: only });
  const foreign = annotated(both, { 'countersign.dev/secret-namespace': 'other-keys' });
  assert.deepEqual(planOf({ serving, bundle: foreign }), { kind: 'ignore' });
});

test('a bundle of another installation is not deleted for a distrusted CA', () => {
  const other = annotated(only, { 'countersign.dev/secret-namespace': 'other-keys' });
  assert.deepEqual(planOf({ signer: distrusting([A], [A]), bundle: other }), { kind: 'ignore' });
});

test('a distrusted anchor is not inherited from an earlier ClusterSigner', () => {
  const signer = distrusting([B], [A]);
  const again = { ...signer, metadata: { ...signer.metadata, uid: 'made-again' } };
  const { spec } = served(planOf({ signer: again, bundle: only }));
  assert.deepEqual(anchorFingerprints(spec.trustBundle), new Set([B.fingerprint]));
});

test('distrust of an unknown CA changes nothing', () => {
  assert.deepEqual(planOf({ signer: distrusting([A], [B]), bundle: only }), { kind: 'ignore' });
});

/** B's key was certified by A. */
function crossSigned(signer: ClusterSigner): ClusterSigner {
  const authorities = (signer.status?.authorities ?? []).map((each) =>
    each.anchors === B.pem
      ? { ...each, fingerprint: B.fingerprint, crossSignedBy: A.fingerprint }
      : each,
  );
  return { ...signer, status: { ...signer.status, authorities } };
}

test('the root that certified a distrusted CA leaves with it', () => {
  const C = anchor('C');
  const signer = crossSigned(distrusting([A, B, C], [B]));
  const plan = planOf({ signer, bundle: both });
  assert.ok(plan.kind === 'update');
  assert.deepEqual(anchorFingerprints(plan.bundle.spec.trustBundle), new Set([C.fingerprint]));
});

test('a bundle whose every anchor is distrusted is deleted until there is another CA', () => {
  const signer = crossSigned(distrusting([A, B], [B]));
  assert.deepEqual(planOf({ signer, bundle: both }), { kind: 'delete', bundle: both });
});

test('text beside a distrusted anchor does not keep it', () => {
  const beside = (bundle: typeof both): typeof both => ({
    ...bundle,
    spec: { ...bundle.spec, trustBundle: `text\n${bundle.spec.trustBundle}\u202eand more` },
  });
  for (const given of [{ signer: distrusting([], [A]) }, { serving: distrusting([B], [A]) }]) {
    const plan = planOf({ ...given, bundle: beside(both) });
    assert.deepEqual(anchorFingerprints(served(plan).spec.trustBundle), new Set([B.fingerprint]));
    assert.equal(planOf({ ...given, bundle: beside(only) }).kind, 'delete');
  }
});

const RENEWED = anchor('A renewed', 'A');

test('every other certificate of a distrusted CA’s key leaves the bundle with it', () => {
  const all = served(planOf({ signer: signerWith([A.pem, RENEWED.pem, B.pem]) }));
  for (const named of [A, RENEWED]) {
    const signer = distrusting([A, RENEWED, B], [named]);
    const { spec } = served(planOf({ signer, bundle: all }));
    assert.deepEqual(anchorFingerprints(spec.trustBundle), new Set([B.fingerprint]));
  }
});

test('nor is one of its key inherited from an earlier ClusterSigner', () => {
  const earlier = served(planOf({ signer: signerWith([A.pem, RENEWED.pem, B.pem]) }));
  const signer = distrusting([B], [A]);
  const again = { ...signer, metadata: { ...signer.metadata, uid: 'made-again' } };
  const { spec } = served(planOf({ signer: again, bundle: earlier }));
  assert.deepEqual(anchorFingerprints(spec.trustBundle), new Set([B.fingerprint]));
});

test('a distrusted key leaves an unpublished bundle in every certificate', () => {
  const all = served(planOf({ signer: signerWith([A.pem, RENEWED.pem, B.pem]) }));
  for (const given of [
    { serving: distrusting([B], [A]), bundle: all },
    // Only the status shows which key is distrusted.
    { serving: distrusting([B, RENEWED], [RENEWED]), bundle: both },
    { signer: distrusting([], [A]), bundle: all },
  ]) {
    const { spec } = served(planOf(given));
    assert.deepEqual(anchorFingerprints(spec.trustBundle), new Set([B.fingerprint]));
  }
});
