// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRequestState, finish, onWatchEvent, start } from '#requests/loop/request-state.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

const KEY = 'example.com/workload team-a/web';
const ISSUED = { outcome: 'issued', reason: 'Issued', written: {} } as never;
const WAITING = { outcome: 'waiting', reason: 'CaMissing' } as never;

function stateOf() {
  const { clock, random } = recordedComponent();
  const queue = { add: () => undefined, addAt: () => undefined };
  return createRequestState({ clock, random, queue });
}

test('an event during an attempt queues the key again, unless it is our own write', () => {
  for (const isOwnEvent of [false, true]) {
    const state = stateOf();
    start(state, KEY);
    assert.equal(onWatchEvent(state, KEY, 'changed'), false);
    const { isNoted } = finish(state, KEY, { kind: 'judged', outcome: ISSUED }, isOwnEvent);
    assert.equal(isNoted, !isOwnEvent);
    assert.equal(onWatchEvent(state, KEY, 'changed'), true);
  }
});

test('a key is due until its attempt completes: a new list queues it sooner', () => {
  const results = [
    [{ kind: 'failed', error: new Error('a bug') }, true],
    [{ kind: 'unread', outcome: WAITING }, true],
    [{ kind: 'unlisted', cause: 'example.com/workload listing' }, true],
    [{ kind: 'judged', outcome: ISSUED }, false],
    [{ kind: 'forgotten' }, false],
  ] as const;
  for (const [result, isDue] of results) {
    const state = stateOf();
    start(state, KEY);
    finish(state, KEY, result, false);
    assert.equal(onWatchEvent(state, KEY, 'again'), isDue, result.kind);
  }
});

test('a repeated outcome is not new, and an answer always is', () => {
  const state = stateOf();
  const isNew = (outcome: never): boolean => {
    start(state, KEY);
    return finish(state, KEY, { kind: 'judged', outcome }, false).isNew;
  };
  assert.deepEqual([WAITING, WAITING, ISSUED, ISSUED, WAITING].map(isNew), [
    true,
    false,
    true,
    true,
    true,
  ]);
});
