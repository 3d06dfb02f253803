// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { NOW } from '../../support/pki/chain.ts';
import { start } from './actor.ts';

const MINUTE = 60_000;

for (const minutes of [-10, -6, -4, 4, 6, 10]) {
  test(`a clock that is ${minutes} min off: the leaf has the API server's time, which nobody else checks`, async () => {
    const stage = start();
    stage.ahead(minutes * MINUTE);
    assert.equal((await stage.handle()).outcome, 'issued');
    const pem = Buffer.from(stage.sent()[0]?.status?.certificate ?? '', 'base64');
    assert.equal(Date.parse(new X509Certificate(pem).validFrom), NOW - MINUTE);
  });
}

for (const minutes of [-11, 11]) {
  test(`clocks that are ${minutes} min apart: nothing is signed, nobody is refused; the server is asked once`, async () => {
    const stage = start();
    stage.ahead(minutes * MINUTE);
    await assert.rejects(stage.handle(), { code: 'CLOCKS_APART', disposition: 'wait' });
    assert.deepEqual(stage.methods(), ['GET']);
    assert.equal(stage.signed().length, 0);
  });
}
