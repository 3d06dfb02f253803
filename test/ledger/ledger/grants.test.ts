// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantsOf, parseGrant, refusalOf } from '#ledger/ledger/grants.ts';
import type { LedgerRecord } from '#ledger/index.ts';
import { issuedRecord, resultRecord } from '../../support/ledger/records.ts';

const GRANTS = ['pcr-issuer=example.com/workload', 'signer=example.com/people'].map(parseGrant);
const DERIVED = 'team-a.signers.countersign.dev/web';

/** A record that pcr-issuer may append, with changes. */
function record(changes: Partial<ReturnType<typeof issuedRecord>> = {}): LedgerRecord {
  return issuedRecord(1, { key: 'pcr-issuer/1', ...changes });
}

function verdict(sent: LedgerRecord, component = 'pcr-issuer', namespaced = false): string {
  return refusalOf(grantsOf(GRANTS, namespaced), component, sent)?.code ?? 'kept';
}

test('a component appends about the signers that it is listed for', () => {
  assert.equal(verdict(record()), 'kept');
  assert.equal(verdict(record({ signer: { name: 'example.com/people' } })), 'LEDGER_REFUSED');
  assert.equal(verdict(record({ signer: { name: DERIVED } })), 'LEDGER_REFUSED');
});

test('a component appends as itself, under keys of its own', () => {
  assert.equal(verdict(record(), 'signer'), 'LEDGER_REFUSED');
  assert.equal(verdict(record({ key: 'signer/1' })), 'LEDGER_REFUSED');
  const result = { ...resultRecord(1), key: 'pcr-issuer/1/delivered' };
  assert.equal(verdict({ ...result, of: 'pcr-issuer/1' } as LedgerRecord), 'kept');
  assert.equal(verdict({ ...result, of: 'signer/1' } as LedgerRecord), 'LEDGER_REFUSED');
});

test('non-signers record no certificate, and non-recorders append nothing', () => {
  const component = { name: 'approver', version: '0.1.0', replica: 'a' };
  const signer = { name: 'example.com/workload' };
  const approver = [parseGrant('approver=example.com/workload')];
  const sent = record({ key: 'approver/1', component, signer });
  assert.equal(refusalOf(grantsOf(approver, false), 'approver', sent)?.code, 'LEDGER_REFUSED');
  assert.equal(verdict(record({ key: 'attester/1' }), 'attester'), 'LEDGER_REFUSED');
});

const wrong = [
  'attester=example.com/workload',
  'signer',
  'signer=',
  '=example.com/x',
  'signer=x y',
];

for (const text of wrong) {
  test(`is no grant: ${text}`, () => {
    assert.throws(() => parseGrant(text), /USAGE|appends|signer/);
  });
}
