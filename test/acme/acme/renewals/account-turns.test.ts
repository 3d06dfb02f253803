// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AccountTurns } from '#acme/acme/renewals/account-turns.ts';

test('an account’s certificates are checked one at a time, in order, never at once', () => {
  const woken: [string, number][] = [];
  const turns = new AccountTurns((key, at) => woken.push([key, at]));
  assert.equal(turns.take('account', 'a', 1000), true);
  assert.equal(turns.take('account', 'b', 1000), false);
  assert.equal(turns.take('account', 'c', 1000), false);
  assert.equal(turns.take('other', 'd', 1000), true);
  turns.end('account', 'a', 1500);
  assert.deepEqual(woken, [['b', 1750]]);
  assert.equal(turns.take('account', 'b', 1600), false);
  assert.equal(turns.take('account', 'b', 1750), true);
});

test('a server that fails is asked for one certificate, and not before its time', () => {
  const woken: [string, number][] = [];
  const turns = new AccountTurns((key, at) => woken.push([key, at]));
  turns.take('account', 'a', 0);
  turns.take('account', 'b', 0);
  turns.end('account', 'a', 0, { until: 60_000, failures: 1 });
  assert.equal(turns.failuresOf('account'), 1);
  assert.deepEqual(woken, [['b', 60_000]]);
  assert.equal(turns.take('account', 'c', 1000), false);
  assert.equal(turns.take('account', 'b', 60_000), true);
  turns.end('account', 'b', 60_001, { until: 180_000, failures: 2 });
  assert.equal(turns.failuresOf('account'), 2);
  turns.take('account', 'c', 180_000);
  turns.end('account', 'c', 180_001);
  assert.equal(turns.failuresOf('account'), 0);
});

test('in any sequence of Orders none waits indefinitely and two never fetch at once', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const event = fc.record({ key, what: fc.constantFrom('come', 'answer', 'go') });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let now = 0;
      const waiting = new Set<string>();
      let asking: string | undefined;
      const turns = new AccountTurns(() => undefined);
      const come = (each: string): void => {
        if (asking === each) return;
        if (!turns.take('account', each, now)) {
          waiting.add(each);
          return;
        }
        assert.equal(asking, undefined);
        waiting.delete(each);
        asking = each;
      };
      const answer = (): void => {
        if (asking !== undefined) turns.end('account', asking, now);
        asking = undefined;
      };
      for (const { key: each, what } of events) {
        now += 1000;
        if (what === 'come') come(each);
        else if (what === 'answer') answer();
        else if (asking !== each) {
          turns.drop(each);
          waiting.delete(each);
        }
      }
      for (let left = 0; left < 10; left += 1) {
        answer();
        now += 1000;
        for (const each of waiting) if (asking === undefined) come(each);
      }
      assert.equal(waiting.size, 0);
    }),
  );
});
