// SPDX-License-Identifier: Apache-2.0
/** ADR 0024: what a status remembers of trust, and which CAs are out of trust by it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  AuthorityStatus,
  ClusterSigner,
  ClusterSignerStatus,
} from '#api/signer/cluster-signer.ts';
import { MAX_CROSS_CERTIFICATES, MAX_DISTRUSTED_CAS } from '#api/signer/cluster-signer-limits.ts';
import { formatTime } from '#api/object/time.ts';
import { readCrossRecords, writeCrossRecords } from '#ca/rotation/cross-records.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { hasRoomForCross, nextTrustMemory } from '#ca/rotation/trust-memory.ts';
import { BORN, DAY, YEAR, entry, held, print } from '../../support/ca/rotation/next-step.ts';
import { anchor } from '../../support/trust/bundles.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const [A, B, C] = ['a', 'b', 'c'].map(print) as [string, string, string];
const END_A = BORN + YEAR;
const END_B = BORN + YEAR + 90 * DAY;
const crossOfB = { issuer: A, subject: B, notAfter: END_A };
const recordOfB = { ...crossOfB, notAfter: formatTime(END_A) };

const ca = (fingerprint: string, end: number, more: Partial<AuthorityStatus> = {}) => ({
  ...entry({ ...held(), fingerprint, notAfter: end }, 'Retiring'),
  notAfter: formatTime(end),
  ...more,
});

function signerOf(distrusted: readonly string[], status: ClusterSignerStatus = {}): ClusterSigner {
  return { ...workload({ 'authority.managed.distrusted': distrusted }), status };
}

/** The status once the authority has looked, with entries of its own. */
function remembered(
  signer: ClusterSigner,
  more: Partial<Parameters<typeof nextTrustMemory>[0]> = {},
): ClusterSigner {
  const { authorities = [] } = signer.status ?? {};
  const memory = nextTrustMemory({ signer, found: [], clocksApart: false, now: BORN, ...more });
  return { ...signer, status: { authorities, ...memory } };
}

/** Takes names out of the spec and entries out of the status, as time and people do. */
const forgotten = (signer: ClusterSigner): ClusterSigner => ({
  ...signerOf([], { ...signer.status, authorities: [] }),
});

const outOf = (signer: ClusterSigner): readonly string[] => [A, B, C].filter(distrustedCas(signer));

test('without distrust and cross-certificates nothing is recorded', () => {
  assert.deepEqual(outOf(workload()), []);
  assert.deepEqual(
    nextTrustMemory({ signer: workload(), found: [], clocksApart: false, now: BORN }),
    {},
  );
});

test('cross-certificates are recorded from the Secret and from older entries', () => {
  const found = remembered(signerOf([]), { found: [crossOfB] });
  assert.deepEqual(found.status?.crossCertificates, [recordOfB]);
  const authorities = [ca(A, END_A), ca(B, END_B, { crossSignedBy: A })];
  assert.deepEqual(remembered(signerOf([], { authorities })).status?.crossCertificates, [
    recordOfB,
  ]);
});

test('a certifier is distrusted with the CA that it certified, before any status write', () => {
  assert.deepEqual(outOf(signerOf([B], { crossCertificates: [recordOfB] })), [A, B]);
});

test('a certifier stays distrusted after its CA is forgotten and no longer named', () => {
  const authorities = [ca(A, END_A), ca(B, END_B, { crossSignedBy: A })];
  const named = remembered(signerOf([B], { authorities }));
  assert.deepEqual(named.status?.distrusted, [
    { fingerprint: A, reason: 'Certifier', notAfter: formatTime(END_A) },
    { fingerprint: B, reason: 'Named', notAfter: formatTime(END_B) },
  ]);
  assert.deepEqual(outOf(forgotten(named)), [A, B]);
  assert.deepEqual(outOf(remembered(forgotten(named), { now: END_A - DAY })), [A, B]);
});

test('distrust of a forgotten CA includes its certifier', () => {
  const known = forgotten(remembered(signerOf([]), { found: [crossOfB] }));
  assert.deepEqual(outOf({ ...known, spec: signerOf([B]).spec }), [A, B]);
  const late = remembered({ ...known, spec: signerOf([B]).spec });
  assert.deepEqual(outOf(forgotten(late)), [A, B]);
});

test('distrust of a CA extends to its certifier, but not to CAs it certified or beyond', () => {
  const ofC = { issuer: B, subject: C, notAfter: formatTime(END_B) };
  const both = { crossCertificates: [recordOfB, ofC] };
  assert.deepEqual(outOf(signerOf([A], both)), [A]);
  assert.deepEqual(outOf(remembered(signerOf([C], both))), [B, C]);
});

test('expired records are forgotten, but not while the clocks disagree', () => {
  const signer = remembered(signerOf([], { authorities: [ca(B, END_B)] }), { found: [crossOfB] });
  const late = { now: END_B + DAY, found: [{ issuer: B, subject: C, notAfter: END_B + YEAR }] };
  const pairs = ({ status }: ClusterSigner): unknown =>
    status?.crossCertificates?.map(({ issuer, subject }) => [issuer, subject]);
  assert.deepEqual(pairs(remembered(signer, late)), [[B, C]]);
  assert.deepEqual(pairs(remembered(signer, { ...late, clocksApart: true })), [
    [A, B],
    [B, C],
  ]);
});

test('an expired record alone causes no write', () => {
  const signer = remembered(signerOf([]), { found: [crossOfB] });
  assert.deepEqual(remembered(signer, { now: END_B }).status, signer.status);
});

test('without room for a record no cross-certificate is made', () => {
  const many = Array.from({ length: MAX_CROSS_CERTIFICATES }, (_, at) => ({
    ...recordOfB,
    subject: `sha256:${String(at).padStart(64, '0')}`,
  }));
  assert.ok(!hasRoomForCross({ crossCertificates: many }));
  assert.ok(hasRoomForCross({ crossCertificates: many.slice(100) }));
});

test('a full list of distrusted CAs drops first those that the spec repeats', () => {
  const prints = Array.from(
    { length: MAX_DISTRUSTED_CAS },
    (_, at) => `sha256:${String(at).padStart(64, '0')}`,
  );
  const before = prints.map((fingerprint) => ({ fingerprint, reason: 'Named' as const }));
  const next = remembered(signerOf([A], { distrusted: before }));
  assert.equal(next.status?.distrusted?.length, MAX_DISTRUSTED_CAS);
  assert.ok([...prints, A].every(distrustedCas(next)));
});

test('the records in the Secret are read back, and malformed ones are ignored', () => {
  assert.deepEqual(readCrossRecords(writeCrossRecords([crossOfB]) ?? ''), [crossOfB]);
  assert.equal(writeCrossRecords([]), null);
  const odd = [null, 1, {}, { ...recordOfB, issuer: 'x' }, { ...recordOfB, notAfter: 'soon' }];
  for (const text of [undefined, '', '{', '{}', 'null', JSON.stringify(odd)]) {
    assert.deepEqual(readCrossRecords(text), []);
  }
});

test('another certificate of a distrusted key stays out after its entry is gone', () => {
  const [old, renewed] = [anchor('OLD'), anchor('OLD renewed', 'OLD')];
  const anchorsOf = ({ fingerprint, pem }: typeof old): AuthorityStatus =>
    ca(fingerprint, END_A, { anchors: pem });
  const until = formatTime(END_A);
  const retained = [{ fingerprint: renewed.fingerprint, anchor: renewed.pem, until }];
  for (const both of [
    { authorities: [anchorsOf(old), anchorsOf(renewed)] },
    { authorities: [anchorsOf(old)], retainedAnchors: retained },
  ]) {
    const { status } = remembered(signerOf([old.fingerprint], both));
    const later = { ...status, authorities: [anchorsOf(renewed)] };
    const isOut = distrustedCas(signerOf([], later));
    assert.ok(isOut(old.fingerprint) && isOut(renewed.fingerprint));
  }
});
