// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { RequestOutcome } from '#requests/loop/outcome.ts';
import { olderThanSigner } from '#requests/loop/older-than-signer.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { request } from './controlled.ts';

const MADE = '2026-11-21T06:00:00Z';

function outcomeOf(createdAt: string, signer: ClusterSigner): RequestOutcome | undefined {
  const { metadata, ...one } = request('web', 5);
  return olderThanSigner(
    { ...one, metadata: { ...metadata, creationTimestamp: createdAt } },
    signer,
  );
}

test('a request older than its Signer is not answered, and an Event gives the reason', () => {
  const signer = teamSigner({ creationTimestamp: MADE });
  const { outcome, reason, event, again } =
    outcomeOf('2026-11-21T05:59:00Z', signer) ?? assert.fail();
  assert.deepEqual([outcome, reason, again], ['undecided', 'OlderThanSigner', undefined]);
  assert.match(event?.note ?? '', /before Signer team-a\/web .*create a new request/);
});

test('the same holds for every namespaced kind, whatever the domain of its names', () => {
  const { metadata, ...signer } = teamSigner({ creationTimestamp: MADE });
  const spec = { ...signer.spec, signerName: 'testissuers.example.com/team-a.web' };
  const issuer = { ...signer, kind: 'TestIssuer', metadata, spec };
  const { reason, event } = outcomeOf('2026-11-21T05:59:00Z', issuer) ?? assert.fail();
  assert.equal(reason, 'OlderThanSigner');
  assert.match(event?.note ?? '', /before TestIssuer team-a\/web /);
});

for (const [law, createdAt] of [
  ['what was asked after it', '2026-11-21T06:00:01Z'],
  ['what was asked in the same second', MADE],
  ['what an API server dated whose clock is late', '2026-11-21T05:59:55Z'],
] as const) {
  test(`a request is answered: ${law}`, () => {
    assert.equal(outcomeOf(createdAt, teamSigner({ creationTimestamp: MADE })), undefined);
  });
}

test('a ClusterSigner answers older requests: its name cannot have had another owner', () => {
  const signer = workload({}, { metadata: { creationTimestamp: MADE } });
  assert.equal(outcomeOf('2026-11-20T00:00:00Z', signer), undefined);
});
