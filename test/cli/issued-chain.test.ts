// SPDX-License-Identifier: Apache-2.0
/** What `countersign request` writes of a signer's answer: the signer may be anybody's. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, test } from 'node:test';
import { issuedChain } from '#cli/commands/request/issued-chain.ts';
import { refuses } from '../support/pki/refuses.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

let own: string;
let other: string;
let spki: Uint8Array;
before(async () => {
  [own, other] = [(await tlsCertificate('own')).cert, (await tlsCertificate('other')).cert];
  spki = new X509Certificate(own).publicKey.export({ type: 'spki', format: 'der' });
});

test('the chain is written without the text around it', () => {
  const answer = `\u001b[2Jrm -rf\n${own}\u202e\n${other}-----BEGIN PRIVATE KEY-----\nYQ==\n`;
  assert.equal(issuedChain(answer, spki), own + other);
});

test('a certificate for another key is not written', () => {
  refuses(() => issuedChain(other + own, spki), 'USAGE', /for another key/);
});

test('an answer that is no certificate is not written', () => {
  refuses(() => issuedChain('', spki), 'USAGE', /no certificate/);
  refuses(() => issuedChain('\u001b[2J', spki), 'USAGE', /no certificate/);
  const garbage = '-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n';
  refuses(() => issuedChain(garbage, spki), 'USAGE', /cannot be used/);
});
