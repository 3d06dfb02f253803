// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rotationReason } from '#ca/rotation/rotation-reason.ts';
import { BORN, HOUR, DESIRED, held } from '../support/ca/rotation/next-step.ts';
import { annotationTime } from '#operations/change-plan.ts';

test('an order counts for a CA that began to sign in the same second', () => {
  for (const part of [0, 1, 499, 500, 999]) {
    const activatedAt = BORN + HOUR + part;
    for (const since of [1, 500, 999]) {
      const rotateAt = Date.parse(annotationTime(activatedAt + since));
      const now = rotateAt;
      const requested = { rotateAt, prepareAt: undefined, unread: [] };
      const due = rotationReason({
        active: held(),
        activatedAt,
        desired: DESIRED,
        requested,
        propagationSeconds: 600,
        now,
      });
      assert.equal(due?.reason, 'Requested', `${part} + ${since}`);
    }
  }
});

test('an order is a time of whole seconds, no more than one ahead', () => {
  assert.equal(annotationTime(Date.UTC(2026, 0, 1)), '2026-01-01T00:00:00Z');
  assert.equal(annotationTime(Date.UTC(2026, 0, 1) + 1), '2026-01-01T00:00:01Z');
});
