// SPDX-License-Identifier: Apache-2.0
/**
 * The webhook of cert-manager keeps both conditions once they are set. Without it, an approver may
 * change its decision while a signed leaf waits for its delivery.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DENIED } from '../../support/requests/certificate-request.ts';
import { certificateRequestStage } from '../../support/requests/issuance-stage.ts';

for (const { what, conditions, outcome } of [
  { what: 'denied', conditions: [DENIED], outcome: 'denied' },
  { what: 'not approved any more', conditions: [], outcome: 'ignored' },
])
  test(`a request that is ${what} after its leaf was signed gets no certificate`, async () => {
    const stage = certificateRequestStage();
    stage.server.troubles.push('unreachable');
    await assert.rejects(stage.handle(), { code: 'KUBE_UNAVAILABLE' });
    const { stored } = stage.server;
    assert.ok(stored !== undefined);
    stage.server.stored = { ...stored, status: { conditions } };
    const answer = await stage.handle(stage.server.stored);
    assert.equal(answer.outcome, outcome);
    assert.equal(stage.server.stored.status?.certificate, undefined);
  });
