// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from '#requests/pcr-issuer/waiting-for-ca.ts';
import type { NotIssued } from '#requests/issuing/issuing-ca.ts';

const held = (how: NotIssued['how'], more: Partial<NotIssued> = {}): NotIssued => ({
  kind: 'notIssued',
  how,
  message: 'words',
  ...more,
});

for (const how of ['retry', 'permanent', 'issuer', 'pending'] as const) {
  test(`no error of a CA fails a PodCertificateRequest: ${how}`, () => {
    assert.equal(outcomeOf(held(how), 0).outcome, 'waiting');
  });
}

test('the error type decides the retry: with backoff, on a change, or after its delay', () => {
  assert.equal(outcomeOf(held('retry'), 0).again, undefined);
  assert.equal(outcomeOf(held('permanent'), 0).again, 'on-change');
  assert.equal(outcomeOf(held('issuer'), 0).again, 'on-change');
  assert.deepEqual(outcomeOf(held('pending', { afterMs: 7 }), 5).again, { requeueAt: 12 });
});

test('an Event carries what a condition would', () => {
  assert.deepEqual(outcomeOf(held('permanent'), 0).event, {
    type: 'Warning',
    reason: 'PermanentError',
    action: 'Issue',
    note: 'words',
  });
  const condition = { type: 'Order', status: 'True', reason: 'Ordered', message: 'no 7' } as const;
  assert.deepEqual(outcomeOf(held('pending', { condition }), 0).event, {
    type: 'Normal',
    reason: 'Ordered',
    action: 'Issue',
    note: 'no 7',
  });
});
