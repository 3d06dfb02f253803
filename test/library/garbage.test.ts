// SPDX-License-Identifier: Apache-2.0
/** What an author without types may return from `sign`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SignedCertificate } from '#library/index.ts';
import { CSR, csrObject, startReady } from './world.ts';

const NO_CHAIN = 'sign() returned no PEM text in chain';
const answers: readonly (readonly [what: string, answer: unknown, message: string])[] = [
  ['nothing', undefined, NO_CHAIN],
  ['null', null, NO_CHAIN],
  ['the chain itself', '-----BEGIN CERTIFICATE-----', NO_CHAIN],
  ['another field', { certificate: 'PEM' }, NO_CHAIN],
  ['bytes', { chain: Buffer.from('PEM') }, NO_CHAIN],
  [
    'anchors as bytes',
    { chain: 'PEM', anchors: Buffer.from('PEM') },
    'sign() returned anchors that are not PEM text',
  ],
];

for (const [what, answer, message] of answers) {
  test(`an author who returns ${what} from sign finds that in the message`, async () => {
    const it = await startReady();
    try {
      it.author.sign = () => Promise.resolve(answer as SignedCertificate);
      it.api.put(`${CSR}/a`, csrObject('a'));
      await it.settle();
      await it.time.advance(60_000);
      const failed = it.conditionsOf(`${CSR}/a`).find(({ type }) => type === 'Failed');
      assert.equal(failed?.message, message);
    } finally {
      await it.stop();
    }
  });
}
