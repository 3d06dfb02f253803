// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import { anchorFingerprints } from '../../../src/pki/x509/trust-bundle.ts';
import {
  anchor,
  annotated,
  planOf,
  served,
  signerWith,
  type Anchor,
} from '../../support/controllers/bundles.ts';

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

test('a distrusted CA leaves the bundle at once, whatever leaves of it live', () => {
  const plan = planOf({ signer: distrusting([A, B], [A]), bundle: both });
  assert.ok(plan.kind === 'update' && !plan.repaired);
  assert.deepEqual(anchorFingerprints(plan.bundle.spec.trustBundle), new Set([B.fingerprint]));
});

test('a bundle of which nothing is to be trusted goes, fenced: none can be empty', () => {
  const signer = distrusting([A], [A]);
  assert.deepEqual(planOf({ signer, bundle: only }), { kind: 'delete', bundle: only });
  assert.deepEqual(planOf({ signer }), { kind: 'ignore' });
});

test('before the CAs of a ClusterSigner are known, what is served stays, but for what is distrusted', () => {
  assert.deepEqual(planOf({ signer: distrusting([], []), bundle: both }), { kind: 'ignore' });
  const plan = planOf({ signer: distrusting([], [A]), bundle: both });
  assert.deepEqual(anchorFingerprints(served(plan).spec.trustBundle), new Set([B.fingerprint]));
  assert.deepEqual(planOf({ signer: distrusting([], [A]), bundle: only }), {
    kind: 'delete',
    bundle: only,
  });
});

test('a distrusted CA leaves a bundle that is published no more as well: pods may mount it still', () => {
  const serving = distrusting([B], [A]);
  const plan = planOf({ serving, bundle: both });
  assert.deepEqual(anchorFingerprints(served(plan).spec.trustBundle), new Set([B.fingerprint]));
  assert.deepEqual(planOf({ serving, bundle: only }), { kind: 'delete', bundle: only });
  const foreign = annotated(both, { 'countersign.dev/secret-namespace': 'other-keys' });
  assert.deepEqual(planOf({ serving, bundle: foreign }), { kind: 'ignore' });
});

test('a bundle that this installation did not publish is not deleted for it', () => {
  const other = annotated(only, { 'countersign.dev/secret-namespace': 'other-keys' });
  assert.deepEqual(planOf({ signer: distrusting([A], [A]), bundle: other }), { kind: 'ignore' });
});

test('it is not inherited from an earlier ClusterSigner either', () => {
  const signer = distrusting([B], [A]);
  const anew = { ...signer, metadata: { ...signer.metadata, uid: 'made-anew' } };
  const { spec } = served(planOf({ signer: anew, bundle: only }));
  assert.deepEqual(anchorFingerprints(spec.trustBundle), new Set([B.fingerprint]));
});

test('what is named in vain changes nothing', () => {
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

test('the root that certified a distrusted CA goes with it: below it that one’s leaves would go on', () => {
  const C = anchor('C');
  const signer = crossSigned(distrusting([A, B, C], [B]));
  const plan = planOf({ signer, bundle: both });
  assert.ok(plan.kind === 'update');
  assert.deepEqual(anchorFingerprints(plan.bundle.spec.trustBundle), new Set([C.fingerprint]));
});

test('until there is another CA there is no bundle then', () => {
  const signer = crossSigned(distrusting([A, B], [B]));
  assert.deepEqual(planOf({ signer, bundle: both }), { kind: 'delete', bundle: both });
});
