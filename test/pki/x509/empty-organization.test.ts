// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRequest, isEmptyStub } from '#pki/x509/pkcs10.ts';
import { printable, rdn, seq, utf8 } from '../../support/pki/der.ts';
import { requestDer } from '../../support/pki/request-der.ts';

const ORGANIZATION = '2.5.4.10';
const subjectOf = (...values: readonly Uint8Array[]): Uint8Array =>
  seq(...values.map((value) => rdn(ORGANIZATION, value)));

test('an empty organization, as Istio’s sidecar agents write it, requests nothing', () => {
  const asked = (...values: readonly Uint8Array[]): readonly string[] => {
    const subject = subjectOf(...values);
    const { subject: read } = decodeRequest(requestDer({ subject }));
    assert.deepEqual(read.raw, subject);
    return read.attributes.map(({ value }) => value);
  };
  assert.deepEqual(asked(printable('')), []);
  assert.deepEqual(asked(utf8(''), utf8('team')), ['team']);
});

test('a stub with an empty organization is not empty', () => {
  const subject = subjectOf(utf8(''));
  assert.equal(isEmptyStub(decodeRequest(requestDer({ subject }))), false);
  assert.equal(isEmptyStub(decodeRequest(requestDer({ subject: seq() }))), true);
});
