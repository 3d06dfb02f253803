// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failsFrom } from '#diagnose/check/report.ts';

test('errors fail a script, and warnings only one that says --fail-on=warning', () => {
  assert.equal(failsFrom({ result: 'error' }, 'error'), true);
  assert.equal(failsFrom({ result: 'error' }, 'warning'), true);
  assert.equal(failsFrom({ result: 'warning' }, 'error'), false);
  assert.equal(failsFrom({ result: 'warning' }, 'warning'), true);
  assert.equal(failsFrom({ result: 'ok' }, 'warning'), false);
});
