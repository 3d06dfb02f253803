// SPDX-License-Identifier: Apache-2.0
/** Form alone: what Go and OpenSSL both read in one way we read in that way, and nothing else. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { AMBIGUOUS_CAS, ODD_CAS, ODD_REQUESTS, UNUSUAL_CAS } from '../support/pki/forms.ts';
import { factsOf } from './facts.ts';
import { Openssl } from './openssl.ts';
import { ACCEPTED, openOracle } from './oracle.ts';
import { ourCertificate, ourRequest } from './ours.ts';

const oracle = await openOracle();
const openssl = new Openssl();

after(async () => {
  await oracle[Symbol.asyncDispose]();
  openssl[Symbol.dispose]();
});

describe('a CA in an odd form is read by all, as its twin in DER', () => {
  for (const [name, { odd, canonical }] of Object.entries(ODD_CAS)) {
    test(name, async () => {
      const [go, twin] = [await oracle.ask('f', odd), await oracle.ask('f', canonical)];
      assert.equal(go.level, ACCEPTED, go.reason);
      assert.equal(go.reason, twin.reason);
      assert.equal(factsOf(odd), go.reason);
      assert.equal(await openssl.certificateText(odd), await openssl.certificateText(canonical));
    });
  }
});

describe('a CA with an unusual value is read by all in one way', () => {
  for (const [name, der] of Object.entries(UNUSUAL_CAS)) {
    test(name, async () => {
      assert.equal(factsOf(der), (await oracle.ask('f', der)).reason);
      assert.match(await openssl.certificateText(der), /CA:TRUE/);
    });
  }
});

describe('a request in an odd form is read by all, as its twin in DER', () => {
  for (const [name, { odd, canonical }] of Object.entries(ODD_REQUESTS)) {
    test(name, async () => {
      const { level, reason } = await oracle.ask('r', odd);
      assert.equal(level, ACCEPTED, reason);
      assert.equal(ourRequest(odd).level, ACCEPTED);
      assert.ok(await openssl.acceptsRequest(odd, 'DER'));
      assert.equal(await openssl.requestText(odd), await openssl.requestText(canonical));
    });
  }
});

describe('a CA that Go and OpenSSL read in different ways is refused', () => {
  for (const [name, der] of Object.entries(AMBIGUOUS_CAS)) {
    test(name, () => assert.notEqual(ourCertificate(der).level, ACCEPTED));
  }
});
