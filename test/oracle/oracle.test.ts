// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { certificateDer } from '../support/pki/certificate-der.ts';
import { NOW, ca, link } from '../support/pki/chain.ts';
import { bits } from '../support/pki/der.ts';
import { requestDer } from '../support/pki/request-der.ts';
import { ACCEPTED, PARSED, REFUSED, chainOf, openOracle } from './oracle.ts';

const oracle = await openOracle();
after(() => oracle[Symbol.asyncDispose]());

const levels = async (...asked: Parameters<typeof oracle.ask>[]): Promise<readonly number[]> =>
  (await Promise.all(asked.map((each) => oracle.ask(...each)))).map(({ level }) => level);

test('the oracle answers in order, and reports how far it read each input', async () => {
  const found = await levels(
    ['r', requestDer()],
    ['r', requestDer({ signature: bits([1]) })],
    ['r', Uint8Array.of(0x30)],
    ['c', certificateDer()],
    ['c', new Uint8Array()],
  );
  assert.deepEqual(found, [ACCEPTED, PARSED, REFUSED, ACCEPTED, REFUSED]);
});

test('the oracle verifies a chain at a given time', async () => {
  const root = link('root', { extensions: [ca()] });
  const leaf = link('leaf', { by: root }).certificate.raw;
  const parts = { leaf, intermediates: [], roots: [root.certificate.raw], now: NOW };
  const found = await levels(
    ['v', chainOf(parts)],
    ['v', chainOf({ ...parts, now: NOW + 1e12 })],
    ['v', chainOf({ ...parts, roots: [] })],
  );
  assert.deepEqual(found, [ACCEPTED, PARSED, PARSED]);
});

test('the oracle reports zlint’s findings for a leaf', async () => {
  const root = link('root', { extensions: [ca()] });
  const leaf = link('leaf', { by: root }).certificate.raw;
  const parts = { leaf, intermediates: [], roots: [root.certificate.raw], now: NOW };
  const { level, reason } = await oracle.ask('l', chainOf(parts));
  assert.equal(level, REFUSED);
  assert.match(reason, /e_ext_authority_key_identifier_no_key_identifier/);
});
