// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { error, finalError, ok, warning, type Finding } from '#diagnose/check/finding.ts';
import { failsFrom, openFindings, reportOf } from '#diagnose/check/report.ts';

test('errors fail a script, and warnings only one that says --fail-on=warning', () => {
  assert.equal(failsFrom({ result: 'error' }, 'error'), true);
  assert.equal(failsFrom({ result: 'error' }, 'warning'), true);
  assert.equal(failsFrom({ result: 'warning' }, 'error'), false);
  assert.equal(failsFrom({ result: 'warning' }, 'warning'), true);
  assert.equal(failsFrom({ result: 'ok' }, 'warning'), false);
});

const REFUSED: Finding = { id: 'requests-granted', ...finalError('Denied', 'correct it') };
const SLOW: Finding = { id: 'components-running', ...error('it starts', 'look at it') };
const SLOW_WARNING: Finding = { id: 'requests-approved', ...warning('it waits', 'approve it') };
const WELL: Finding = { id: 'signers-ready', ...ok('all are Ready') };

for (const [law, findings, severity, ids] of [
  ['ends at once if only final answers fail', [REFUSED, WELL], 'error', []],
  ['ends at once if nothing fails', [WELL, SLOW_WARNING], 'error', []],
  ['waits for a component beside a final answer', [REFUSED, SLOW], 'error', ['components-running']],
  [
    'waits for a warning beside a final answer with --fail-on=warning',
    [REFUSED, SLOW_WARNING],
    'warning',
    ['requests-approved'],
  ],
] as const)
  test(`check --wait ${law}`, () => {
    const open = openFindings(reportOf(findings), severity);
    assert.deepEqual(
      open.map(({ id }) => id),
      ids,
    );
  });

test('a final answer fails a script', () => {
  assert.equal(failsFrom(reportOf([REFUSED, WELL]), 'error'), true);
});
