// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { createNonces } from '#acme/protocol/nonces.ts';
import { newOrder } from '#acme/protocol/orders.ts';
import { newKey } from '../calls.ts';
import { json, startScriptedServer, type ScriptedServer } from '../scripted-server.ts';

let scripted: ScriptedServer;
beforeEach(async () => {
  scripted = await startScriptedServer();
});
afterEach(() => scripted.stop());

test('nonces are taken once, the newest first, and 32 are kept at most', () => {
  const nonces = createNonces();
  for (let index = 0; index < 1000; index += 1) nonces.keep(`n${index}`);
  const taken = Array.from({ length: 40 }, () => nonces.take());
  assert.deepEqual(
    taken.filter((nonce) => nonce !== undefined),
    Array.from({ length: 32 }, (_, index) => `n${999 - index}`),
  );
});

test('what is no nonce is not kept', () => {
  const nonces = createNonces();
  for (const header of [undefined, '', 'a b', 'é', 'a'.repeat(513), ['a', 'b']])
    nonces.keep(header);
  assert.equal(nonces.take(), undefined);
});

test('calls at once need a nonce each, and what they bring back is used by the next', async () => {
  const key = await newKey();
  const account = { key, account: `${scripted.origin}/a`, status: 'valid', contact: [] } as const;
  const client = scripted.client();
  const fresh = (): number => scripted.calls.filter((path) => path === '/nonce').length;
  const five = (): Promise<unknown> =>
    Promise.all(Array.from({ length: 5 }, () => newOrder(client, account, { identifiers: [] })));
  await five();
  assert.equal(fresh(), 5);
  await five();
  assert.equal(fresh(), 5);
  // The server was started again: one refusal, and none of the old ones is tried again.
  const used: string[] = [];
  scripted.reply['/order'] = (request, response, body) => {
    const { protected: header } = JSON.parse(body) as { protected: string };
    used.push((JSON.parse(Buffer.from(header, 'base64url').toString()) as { nonce: string }).nonce);
    const type = 'urn:ietf:params:acme:error:badNonce';
    const [status, problem] = used.length === 1 ? [400, { type }] : [500, {}];
    json(status, problem, { 'replay-nonce': `new-${used.length}` })(request, response, body);
  };
  await newOrder(client, account, { identifiers: [] });
  await five();
  assert.equal(used.indexOf('new-1'), 1);
  assert.equal(used.lastIndexOf('next'), 0);
});
