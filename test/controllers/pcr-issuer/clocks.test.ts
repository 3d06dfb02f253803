// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NOW } from '../../support/pki/chain.ts';
import { start } from './actor.ts';

const MINUTE = 60_000;

for (const minutes of [-10, -6, -4, 4, 6, 10]) {
  test(`a clock that is ${minutes} min off: the leaf has the API server's time`, async () => {
    const stage = start();
    stage.ahead(minutes * MINUTE);
    assert.equal((await stage.handle()).outcome, 'issued');
    const { notBefore = '', conditions = [] } = stage.sent()[0]?.status ?? {};
    assert.equal(Date.parse(notBefore), NOW - MINUTE);
    assert.equal(Date.parse(conditions[0]?.lastTransitionTime ?? ''), NOW);
  });
}

for (const minutes of [-11, 11, 365 * 24 * 60]) {
  test(`clocks that are ${minutes} min apart: nothing is signed, nobody is denied; the server is asked once`, async () => {
    const stage = start();
    stage.ahead(minutes * MINUTE);
    await assert.rejects(stage.handle(), { code: 'CLOCKS_APART', disposition: 'wait' });
    assert.deepEqual(stage.methods(), ['GET']);
    assert.equal(stage.signed().length, 0);
  });
}

test('what an answer of long ago said of the clocks is asked again before anything waits for it', async () => {
  const stage = start();
  stage.ahead(60 * MINUTE);
  stage.server.asked = () => {
    stage.ahead(0);
  };
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['GET', 'PUT']);
});
