// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { NOW } from '../../support/pki/chain.ts';
import { forEachKind } from './kinds.ts';

const MINUTE = 60_000;

for (const minutes of [-10, -6, -4, 4, 6, 10]) {
  forEachKind(
    `with a clock ${minutes} min off, the leaf has the API server's time`,
    async (kind) => {
      const stage = kind.start();
      stage.ahead(minutes * MINUTE);
      assert.equal((await stage.handle()).outcome, 'issued');
      const [sent] = stage.sent();
      assert.ok(sent);
      const leaf = new X509Certificate(kind.chainOf(sent));
      assert.equal(Date.parse(leaf.validFrom), NOW - MINUTE);
    },
  );
}

for (const minutes of [-11, 11, 365 * 24 * 60]) {
  forEachKind(
    `with clocks ${minutes} min apart nothing is signed or refused, after one question`,
    async (kind) => {
      const stage = kind.start();
      stage.ahead(minutes * MINUTE);
      await assert.rejects(stage.handle(), {
        code: 'CLOCKS_APART',
        disposition: 'wait',
        message: /^signing is paused: the clock of the node on which [a-z-]+ runs is \d+ s /,
      });
      assert.deepEqual(stage.methods(), ['GET']);
      assert.equal(stage.signed().length, 0);
    },
  );
}

forEachKind('an old clock offset is asked again before anything waits for it', async (kind) => {
  const stage = kind.start();
  stage.ahead(60 * MINUTE);
  stage.server.asked = () => {
    stage.ahead(0);
  };
  assert.equal((await stage.handle()).outcome, 'issued');
  assert.deepEqual(stage.methods(), ['GET', 'PUT']);
});
