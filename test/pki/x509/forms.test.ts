// SPDX-License-Identifier: Apache-2.0
/** Form alone is no reason to refuse, where all readers read it in one way. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SignerError } from '#base/errors.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { decodeRequest, verifyRequest } from '#pki/x509/pkcs10.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { encodePem } from '#pki/der/pem.ts';
import { AMBIGUOUS_CAS, ODD_CAS, ODD_REQUESTS, UNUSUAL_CAS } from '../../support/pki/forms.ts';

const FORM = ['raw', 'info', 'tbs', 'signature', 'signatureAlgorithm', 'extensions'];

/** What it says, without the octets that say it. */
function meaning(read: object): unknown {
  return Object.fromEntries(Object.entries(read).filter(([name]) => !FORM.includes(name)));
}

describe('a request in an odd form says what its twin in DER says', () => {
  for (const [name, { odd, canonical }] of Object.entries(ODD_REQUESTS)) {
    test(name, () => {
      const request = decodeRequest(odd);
      verifyRequest(request);
      assert.deepEqual(meaning(request), meaning(decodeRequest(canonical)));
    });
  }
});

describe('a CA in an odd form says what its twin in DER says', () => {
  for (const [name, { odd, canonical }] of Object.entries(ODD_CAS)) {
    test(name, () => {
      assert.notDeepEqual(odd, canonical);
      assert.deepEqual(meaning(decodeCertificate(odd)), meaning(decodeCertificate(canonical)));
      assert.equal(readAnchors(encodePem('CERTIFICATE', odd)).length, 1);
    });
  }
});

describe('an anchor that no CA should write but all read is read', () => {
  for (const [name, der] of Object.entries(UNUSUAL_CAS)) {
    test(name, () => assert.equal(readAnchors(encodePem('CERTIFICATE', der)).length, 1));
  }
});

describe('a CA that readers read in different ways is refused', () => {
  for (const [name, der] of Object.entries(AMBIGUOUS_CAS)) {
    test(name, () => assert.throws(() => decodeCertificate(der), SignerError));
  }
});

test('a time in the first century is not one of the last', () => {
  const found = UNUSUAL_CAS['a beginning in the year 1, which Go writes for no time'];
  const { notBefore } = decodeCertificate(found ?? new Uint8Array());
  assert.equal(new Date(notBefore).toISOString(), '0001-01-01T00:00:00.000Z');
});
