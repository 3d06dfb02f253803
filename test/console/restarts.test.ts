// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderToString } from 'preact-render-to-string';
import { RESTARTS_A_PAGE, restartsModel } from '#console/pages/restarts.ts';
import { restartsView } from '#console/views/restarts.ts';

const VIEW = { prefix: 'p', now: 0 };
const HOSTILE = '<img src=x>\u202egnp';

function row(workload: string): { workload: string; when: string; why: string } {
  return { workload, when: 'now', why: HOSTILE };
}

test('a page has a bounded number of rows, and links to the next', () => {
  const planned = Array.from({ length: 250 }, (_, index) => row(`Deployment a/${index}`));
  const model = restartsModel({ planned, current: 3 }, RESTARTS_A_PAGE);
  assert.equal(model.rows.length, RESTARTS_A_PAGE);
  assert.equal(model.rows[0]?.workload, 'Deployment a/100');
  const html = renderToString(restartsView(VIEW, model));
  assert.match(html, /from=200/);
  assert.match(html, /250 workloads to restart or to look at, 3 up to date/);
});

test('texts of workloads stay text', () => {
  const model = restartsModel({ planned: [row(`Deployment ${HOSTILE}`)], current: 0 }, 0);
  assert.doesNotMatch(renderToString(restartsView(VIEW, model)), /<img|\u202e/);
});

test('without an opted-in workload, the page says how to opt in', () => {
  const model = restartsModel({ planned: [], current: 0 }, 0);
  assert.match(renderToString(restartsView(VIEW, model)), /No workload has opted in/);
});
