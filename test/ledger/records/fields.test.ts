// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparable, withoutFields } from '#ledger/records/fields.ts';
import { readRecord, type LedgerRecord } from '#ledger/records/record.ts';
import { OMITTABLE_FIELDS, type OmittableField } from '#base/vocabulary.ts';
import { issuedRecord, resultRecord } from '../../support/ledger/records.ts';

const issued = issuedRecord(1);
const { certificate: _certificate, ca: _ca, ...asked } = issued;
const whole: LedgerRecord = {
  ...asked,
  kind: 'denied',
  reason: 'NoRule',
  message: 'text of the message',
  request: {
    ...asked.request,
    pkcs10: Buffer.from('the request').toString('base64'),
    annotations: { 'example.com/a': 'text of the annotation' },
  },
  requester: {
    ...asked.requester,
    user: { username: 'jane-doe', uid: 'uid-of-jane', groups: ['group-of-jane'] },
  },
  decision: { by: 'the-approver', rule: 'rule', stated: { message: 'stated text' } },
};

/** What must not be in the record without a field. */
const TRACES: Readonly<Record<OmittableField, readonly string[]>> = {
  user: ['jane-doe', 'uid-of-jane', 'group-of-jane'],
  groups: ['group-of-jane'],
  request: [Buffer.from('the request').toString('base64')],
  annotations: ['text of the annotation'],
  node: ['node-1', 'node-uid-1'],
  approver: ['the-approver'],
  stated: ['stated text'],
  message: ['text of the message'],
};

for (const field of OMITTABLE_FIELDS) {
  test(`without ${field} nothing of it is kept, everything else is, and it is a record`, () => {
    const kept = withoutFields(whole, new Set([field]));
    const text = JSON.stringify(readRecord(kept));
    for (const trace of TRACES[field]) assert.ok(!text.includes(trace), trace);
    const others = OMITTABLE_FIELDS.filter((each) => each !== field).flatMap(
      (each) => TRACES[each],
    );
    for (const trace of others) {
      if (!TRACES[field].includes(trace)) assert.ok(text.includes(trace), trace);
    }
  });
}

test('always keeps who has the certificate, from which CA and by which rule', () => {
  const kept = withoutFields(issued, new Set(OMITTABLE_FIELDS));
  assert.ok(kept.kind === 'issued');
  const { certificate, ca, key, signer } = issued;
  const { pod, serviceAccount } = issued.requester;
  assert.deepEqual(
    [kept.certificate, kept.ca, kept.key, kept.signer, kept.requester, kept.decision],
    [certificate, ca, key, signer, { pod, serviceAccount }, { rule: 'allow' }],
  );
  assert.deepEqual(withoutFields(resultRecord(1), new Set(OMITTABLE_FIELDS)), resultRecord(1));
});

test('a record is the same one with and without what can be left out', () => {
  for (const field of OMITTABLE_FIELDS) {
    assert.deepEqual(comparable(withoutFields(whole, new Set([field]))), comparable(whole));
  }
});
