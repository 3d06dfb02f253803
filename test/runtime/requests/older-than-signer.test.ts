// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import type { RequestOutcome } from '../../../src/runtime/requests/outcome.ts';
import { ignoreOlderThanSigner } from '../../../src/runtime/requests/older-than-signer.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';
import { request, type Request } from './controlled.ts';

const MADE = '2026-11-21T06:00:00Z';

async function outcomeOf(createdAt: string, signer: ClusterSigner): Promise<RequestOutcome> {
  const handle = ignoreOlderThanSigner<Request, ClusterSigner>(() =>
    Promise.resolve({ outcome: 'issued', reason: 'Issued' }),
  );
  const one = request('web', 5);
  return handle({ ...one, metadata: { ...one.metadata, creationTimestamp: createdAt } }, signer);
}

test('a request older than its Signer is not answered, and an Event gives the reason', async () => {
  const { outcome, reason, event, again } = await outcomeOf(
    '2026-11-21T05:59:00Z',
    teamSigner({ creationTimestamp: MADE }),
  );
  assert.deepEqual([outcome, reason, again], ['undecided', 'OlderThanSigner', undefined]);
  assert.match(event?.note ?? '', /before Signer team-a\/web .*create a new request/);
});

for (const [law, createdAt] of [
  ['what was asked after it', '2026-11-21T06:00:01Z'],
  ['what was asked in the same second', MADE],
  ['what an API server dated whose clock is late', '2026-11-21T05:59:55Z'],
] as const) {
  test(`a request is answered: ${law}`, async () => {
    const { outcome } = await outcomeOf(createdAt, teamSigner({ creationTimestamp: MADE }));
    assert.equal(outcome, 'issued');
  });
}

test('a ClusterSigner answers older requests: its name cannot have had another owner', async () => {
  const signer = workload({}, { metadata: { creationTimestamp: MADE } });
  assert.equal((await outcomeOf('2026-11-20T00:00:00Z', signer)).outcome, 'issued');
});
