// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { ConsoleSession } from '#console/server/session.ts';

const MINUTE = 60_000;

function sessionAt(): { session: ConsoleSession; pass: (minutes: number) => void } {
  let now = 1_000;
  const session = new ConsoleSession({ random: randomBytes, monotonic: () => now });
  return { session, pass: (minutes) => (now += minutes * MINUTE) };
}

function opened(session: ConsoleSession): string {
  return session.open(session.secret) ?? assert.fail('the secret opens nothing');
}

test('the secret opens the session once', () => {
  const { session } = sessionAt();
  assert.equal(session.open('wrong'), undefined);
  assert.equal(session.judge(opened(session), true), 'open');
  assert.equal(session.open(session.secret), undefined);
});

test('secret, token and path are different words of 256 bits', () => {
  const { session } = sessionAt();
  const words = [session.secret, session.prefix, opened(session)];
  assert.equal(new Set(words).size, 3);
  for (const word of words) assert.match(word, /^[\w-]{43}$/);
});

test('a secret that is unused for ten minutes opens nothing, and the console ends', () => {
  const { session, pass } = sessionAt();
  pass(11);
  assert.equal(session.open(session.secret), undefined);
  assert.equal(session.hasEnded, true);
});

test('no token, and another one, have no session', () => {
  const { session } = sessionAt();
  opened(session);
  assert.equal(session.judge(undefined, true), 'none');
  assert.equal(session.judge(session.secret, true), 'none');
});

test('the session ends an hour after the last page, and a stream does not prolong it', () => {
  const { session, pass } = sessionAt();
  const token = opened(session);
  pass(50);
  assert.equal(session.judge(token, true), 'open');
  pass(50);
  assert.equal(session.judge(token, false), 'open');
  pass(15);
  assert.equal(session.judge(token, true), 'ended');
  assert.equal(session.hasEnded, true);
});

test('the session ends after twelve hours, however much it is used', () => {
  const { session, pass } = sessionAt();
  const token = opened(session);
  for (let hour = 0; hour < 12; hour += 1) {
    assert.equal(session.judge(token, true), 'open');
    pass(60);
  }
  pass(1);
  assert.equal(session.judge(token, true), 'ended');
});
