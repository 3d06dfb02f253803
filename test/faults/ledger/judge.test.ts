// SPDX-License-Identifier: Apache-2.0
/** The judge of a ledger finds what it is there to find. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { LedgerRecord } from '#ledger/index.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';
import { CA, issuedRecord } from '../../support/ledger/records.ts';
import type { AnyRequest, Wanted } from '../lab/wanted.ts';
import { serialOf } from '../oracle/leaf.ts';
import { faultsOfLedger, type LedgerEvidence } from './judge.ts';

const { cert } = await tlsCertificate('leaf');
const leaf = new X509Certificate(cert);
const wanted: readonly Wanted[] = [{ kind: 'csr', name: 'mixed-0', uid: 'uid-0' }];
const request = {
  metadata: { name: 'mixed-0', uid: 'uid-0' },
  status: {
    certificate: Buffer.from(cert).toString('base64'),
    conditions: [{ type: 'Approved', status: 'True' }],
  },
} as unknown as AnyRequest;

const by = (name: string): LedgerRecord['component'] => ({ name, version: '1', replica: name });
const asked = { ...issuedRecord(0), request: { kind: 'CSR', name: 'mixed-0', uid: 'uid-0' } };
const issued: LedgerRecord = {
  ...asked,
  kind: 'issued',
  key: 'signer/uid-0/digest',
  component: by('signer'),
  certificate: leaf.raw.toString('base64'),
};
const { at, signer, requester } = asked;
const approved: LedgerRecord = {
  kind: 'approved',
  key: 'approver/uid-0/approved/digest',
  at,
  signer,
  requester,
  request: asked.request,
  component: by('approver'),
};
const result: LedgerRecord = {
  kind: 'result',
  key: `${issued.key}/delivered`,
  at,
  of: issued.key,
  outcome: 'delivered',
  component: by('signer'),
};
const authority: LedgerRecord = {
  kind: 'authority',
  key: 'authority/ca/digest',
  at,
  purpose: 'ca',
  signer,
  ca: CA,
  certificate: 'AAAA',
  component: by('authority'),
};
const gap = (lost: number): LedgerRecord => ({
  kind: 'gap',
  key: 'signer/gap/one/1',
  at,
  component: by('signer'),
  lost,
  from: at,
  to: at,
});

const signatures = new Map([['uid-0', [serialOf(leaf)]]]);
const whole: LedgerEvidence = {
  mode: 'required',
  wanted,
  objects: new Map([['uid-0', request]]),
  records: [authority, approved, issued, result],
  signatures: new Map([['signer', signatures]]),
  signaturesOfRunning: signatures,
  refused: new Map(),
  lost: new Map(['signer', 'pcr-issuer', 'approver'].map((name) => [name, 0])),
  authorities: [CA],
};
const counted: LedgerEvidence = { ...whole, mode: 'best-effort' };
const without = (...left: readonly LedgerRecord[]): readonly LedgerRecord[] =>
  whole.records.filter((each) => !left.includes(each));

const laws: readonly (readonly [
  law: string,
  evidence: LedgerEvidence,
  faults: readonly RegExp[],
])[] = [
  ['required: all is there', whole, []],
  ['best-effort: all is there', counted, []],
  [
    'required: a certificate without a record',
    { ...whole, records: without(issued) },
    [/^mixed-0: its certificate has no record$/],
  ],
  [
    'required: a record of another request',
    { ...whole, records: [...without(issued), { ...issued, request: issuedRecord(1).request }] },
    [/^mixed-0: its record is of another request$/],
  ],
  [
    'required: an approval without a record',
    { ...whole, records: without(approved) },
    [/^mixed-0: its approval has no record$/],
  ],
  [
    'required: no result of a process that runs',
    { ...whole, records: without(result) },
    [/^mixed-0: who signed it runs, and has recorded no delivery$/],
  ],
  [
    'required: no result of a process that was killed',
    { ...whole, records: without(result), signaturesOfRunning: new Map() },
    [],
  ],
  [
    'a CA without a record',
    { ...whole, records: without(authority) },
    [/^the CA sha256:(ca)+ has no record$/],
  ],
  [
    'a certificate with two records',
    { ...whole, records: [...whole.records, { ...issued, key: 'signer/uid-0/other' }] },
    [/^recorded twice: signer\/uid-0\/other$/, /^mixed-0: who signed it runs/],
  ],
  [
    'a result with two records, at two times',
    { ...whole, records: [...whole.records, { ...result, key: 'other', at: '2026-01-01' }] },
    [/^recorded twice: other$/],
  ],
  [
    'best-effort: what is counted',
    {
      ...counted,
      records: [...without(issued), gap(1)],
      lost: new Map([...counted.lost, ['signer', 1]]),
    },
    [],
  ],
  [
    'best-effort: what is not counted',
    { ...counted, records: without(issued) },
    [/^signer: 1 records and 0 lost, of 2$/],
  ],
  [
    'best-effort: what is counted and there',
    {
      ...counted,
      records: [...whole.records, gap(1)],
      lost: new Map([...counted.lost, ['signer', 1]]),
    },
    [/^signer: 2 records and 1 lost, of 2$/],
  ],
  [
    'best-effort: a gap that the component does not know of',
    { ...counted, records: [...without(issued), gap(1)] },
    [/^signer: it counts 0 lost, and its gaps 1$/],
  ],
];

for (const [law, evidence, faults] of laws) {
  test(law, () => {
    const found = faultsOfLedger(evidence);
    assert.equal(found.length, faults.length, found.join('\n'));
    for (const [number, fault] of faults.entries()) assert.match(found[number] ?? '', fault);
  });
}
