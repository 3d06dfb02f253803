// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { validityOf } from '#pki/x509/validity.ts';
import { certificateDer } from '../../support/pki/certificate-der.ts';
import { generalizedTime, seq } from '../../support/pki/der.ts';

const [EARLY, LATE, MALFORMED] = ['20260101000000Z', '20600101000000Z', '20601301000000Z'];

const read = (from: string, to: string): ReturnType<typeof validityOf> => {
  const validity = seq(generalizedTime(from), generalizedTime(to));
  return validityOf(new X509Certificate(certificateDer({ validity })));
};

test('the validity of a certificate is as OpenSSL reads it', () => {
  assert.deepEqual(read(EARLY, LATE), {
    notBefore: Date.UTC(2026, 0, 1),
    notAfter: Date.UTC(2060, 0, 1),
  });
});

test('times of every form that OpenSSL reads are a validity', () => {
  for (const time of ['00010101000000Z', '99991231235959Z', '20260101000000.5Z'])
    assert.ok(read(time, time), time);
});

test('a certificate with one malformed time has no validity', () => {
  // Repeated, because the date that Node.js makes of a malformed time depends on its memory.
  for (let n = 0; n < 200; n += 1) {
    assert.ok(read(EARLY, LATE));
    assert.equal(read(EARLY, MALFORMED), undefined);
    assert.equal(read(MALFORMED, LATE), undefined);
  }
});
