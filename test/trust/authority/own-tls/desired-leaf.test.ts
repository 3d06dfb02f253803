// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { desiredLeafOf } from '#trust/authority/own-tls/desired-leaf.ts';
import { workload } from '../../../support/signers/workload-profile.ts';

test('a signer of CAs signs no serving certificate', () => {
  const usages = ['digital signature', 'server auth'];
  const leaves: ClusterSigner = workload({ 'profile.usages': usages, 'requests.rules': [] });
  assert.equal(desiredLeafOf(leaves, 'signer', 'countersign-system').keyType, 'ECDSAP256');
  const intermediates = { rules: [] };
  const ofCas = { ...leaves, spec: { ...leaves.spec, intermediates } };
  assert.throws(() => desiredLeafOf(ofCas, 'signer', 'countersign-system'), {
    code: 'SPEC_INVALID',
    message: /signs the CAs of other clusters only/,
  });
});
