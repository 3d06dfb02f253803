// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { PendingError, PermanentError } from '#library/index.ts';
import { CSR, csrObject, startReady, type World } from './world.ts';

let it: World;

beforeEach(async () => {
  it = await startReady();
});
afterEach(() => it.stop());

async function create({ api, settle }: World, name: string): Promise<void> {
  api.put(`${CSR}/${name}`, csrObject(name));
  await settle();
}

test('20. a change that users see is logged at info: success and final failure', async () => {
  await create(it, 'a');
  it.author.sign = () => Promise.reject(new PermanentError('refused'));
  await create(it, 'b');
  const told = it.component.log.lines.filter(({ message }) => message.startsWith('request '));
  assert.deepEqual(
    told.map(({ level, message }) => [level, message]),
    [
      ['info', 'request issued'],
      ['info', 'request failed'],
    ],
  );
});

test('20. logs other steps at debug: a continued wait, and lines of the author', async () => {
  it.author.sign = (_request, _issuer, ctx) => {
    ctx.log.debug({}, 'an author’s own words');
    return Promise.reject(new PendingError('at work'));
  };
  await create(it, 'a');
  await it.time.advance(5_000);
  const levels = (text: string): readonly string[] =>
    it.component.log.lines.filter(({ message }) => message === text).map(({ level }) => level);
  assert.ok(levels('an author’s own words').every((level) => level === 'debug'));
  const [first, ...later] = levels('request waiting');
  assert.equal(first, 'warn', 'the first log line is visible at level info');
  assert.ok(later.length > 2 && later.every((level) => level === 'debug'));
});
