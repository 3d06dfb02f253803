// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseScript } from './parse.ts';
import { createScript } from './script.ts';
import { createTally } from './tally.ts';

test('a script is rules, one a line, with comments', () => {
  const rules = parseScript(`
    # storms
    *       PUT   */status                nth 3        answer 429 retry-after 2
    signer  LINE  podcertificaterequests  chance 0.25  reorder   # of Pods
    *       ANY   *                                    delay 50ms-2s
  `);
  assert.deepEqual(
    rules.map(({ client, verb, when, fault }) => ({ client, verb, when, fault })),
    [
      {
        client: '*',
        verb: 'PUT',
        when: { kind: 'nth', count: 3 },
        fault: { kind: 'answer', status: 429, retryAfter: 2 },
      },
      {
        client: 'signer',
        verb: 'LINE',
        when: { kind: 'chance', probability: 0.25 },
        fault: { kind: 'reorder' },
      },
      {
        client: '*',
        verb: 'ANY',
        when: { kind: 'always' },
        fault: { kind: 'delay', least: 50, most: 2000 },
      },
    ],
  );
});

for (const [line, why] of [
  ['* PAT * cut', /"PAT" is none of/],
  ['* PUT * explode', /no fault that is known/],
  ['* PUT * cut twice', /no fault that is known/],
  ['* PUT * nth 0 cut', /no count/],
  ['* PUT * chance 2 cut', /no count or probability/],
  ['* PUT * answer 200', /no fault that is known/],
  ['* PUT * delay 2s-1s', /no fault that is known/],
  ['* PUT * drop', /"drop" cannot be done to PUT/],
  ['* LINE * swallow', /"swallow" cannot be done to LINE/],
  ['* CONNECT * truncate', /"truncate" cannot be done to CONNECT/],
  ['* PUT * kill now', /no fault that is known/],
] as const) {
  test(`an invalid rule is rejected: ${line}`, () => {
    assert.throws(() => parseScript(line), { name: 'SyntaxError', message: why });
  });
}

test('a path is matched from a slash on, up to its end', () => {
  const [rule] = parseScript('* PUT requests/*/status cut');
  assert.ok(rule?.path.test('/apis/x/requests/a/status'));
  assert.ok(!rule?.path.test('/apis/x/requests/a/status/more'));
  assert.ok(!rule?.path.test('/apis/x/myrequests/a/status'));
});

const PUT = { client: 'signer', verbs: ['PUT', 'ANY'], path: '/a' } as const;

test('the first rule that applies is the only one, except for delays before it', () => {
  const tally = createTally();
  const script = createScript(1, tally);
  script.set('* ANY * delay 1ms\n* PUT * nth 2 cut\n* ANY * every 2 silence\n* GET * cut');
  const struck = Array.from({ length: 4 }, () => script.strike(PUT).map(({ kind }) => kind));
  assert.deepEqual(struck, [['delay'], ['delay', 'cut'], ['delay', 'silence'], ['delay']]);
  assert.deepEqual(Object.fromEntries(tally.counts()), {
    'ANY: delay': 4,
    'PUT: cut': 1,
    'ANY: silence': 1,
  });
});

test('a seed makes the same choices again', () => {
  const draw = (seed: number): readonly number[] => {
    const script = createScript(seed, createTally());
    script.set('* ANY * chance 0.3 cut');
    return Array.from({ length: 1000 }, () => script.strike(PUT).length);
  };
  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
  const hits = draw(7).filter((count) => count === 1).length;
  assert.ok(hits > 250 && hits < 350, String(hits));
});
