// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { usableAuthority } from '#requests/ca/usable-authority.ts';
import { NOW, openAuthority } from '../../support/ca/issuing.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const status = {
  observedGeneration: 1,
  conditions: [{ type: 'Ready', status: 'True', reason: 'Checked', message: '' }],
} as const;

test('a distrusted CA signs nothing, even if no bundle is published', async () => {
  const authority = await openAuthority();
  const use = (distrusted: readonly string[]): unknown => {
    const changes = { 'authority.managed.distrusted': distrusted, trustBundle: undefined };
    const signer = workload(changes, { status });
    const annotations = { [SIGNER_NAME]: signer.spec.signerName };
    return usableAuthority({
      signer,
      secret: { apiVersion: 'v1', kind: 'Secret', metadata: { ...signer.metadata, annotations } },
      bundle: undefined,
      open: () => authority,
      last: () => undefined,
      propagationSeconds: 600,
      now: NOW,
    });
  };
  assert.equal(use([`sha256:${'0'.repeat(64)}`]), authority);
  assert.throws(() => use([authority.facts.fingerprint]), {
    code: 'AUTHORITY_INVALID',
    disposition: 'authority',
    message: /distrusted/,
  });
});
