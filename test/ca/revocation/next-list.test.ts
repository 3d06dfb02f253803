// SPDX-License-Identifier: Apache-2.0
/** What is on the next CRL, its number, and when it is due. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { decodeCertificateList, type CertificateList } from '#pki/x509/certificate-list.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import { nextList, type ListState, type NextList } from '#ca/revocation/next-list.ts';
import { prepareList } from '#ca/revocation/prepared-list.ts';
import { serialText } from '#ca/revocation/serial.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const NOW = Math.floor(Date.now() / SECOND) * SECOND;
const authority = openLocalAuthority(
  { ...(await certificateAuthority()), anchors: undefined },
  NOW,
);

const STATE: ListState = {
  previous: undefined,
  ends: new Map(),
  entries: [],
  knownNumber: 0,
  issuer: authority.facts,
  validitySeconds: 24 * 3600,
  backdateSeconds: 60,
  now: NOW,
};

const ENTRY = {
  serial: 'A1:B2',
  revokedAt: NOW,
  reason: 'keyCompromise',
  notAfter: NOW + HOUR,
} as const;

function due(state: ListState): Extract<NextList, { due: true }> {
  const next = nextList(state);
  assert.ok(next.due);
  return next;
}

/** The CRL of that decision, as the next one finds it. */
function published({ wanted, ends }: Extract<NextList, { due: true }>): {
  readonly previous: CertificateList;
  readonly ends: ListState['ends'];
} {
  const der = authority.signList?.(prepareList(encodeTbsList(wanted), wanted));
  assert.ok(der);
  return { previous: decodeCertificateList(der), ends };
}

const serialsOf = ({ wanted }: Extract<NextList, { due: true }>): readonly string[] =>
  wanted.revoked.map(({ serial }) => serialText(serial));

test('what was listed stays without its Revocation, until one CRL after its end', () => {
  const first = due({ ...STATE, entries: [ENTRY] });
  assert.deepEqual(serialsOf(first), ['a1b2']);
  const atEnd = due({ ...STATE, ...published(first), now: NOW + 13 * HOUR });
  assert.deepEqual(serialsOf(atEnd), ['a1b2']);
  const afterEnd = due({ ...STATE, ...published(atEnd), now: NOW + 14 * HOUR });
  assert.deepEqual(serialsOf(afterEnd), []);
});

test('where the end is not known, an entry stays as long as its CA', () => {
  const first = published(due({ ...STATE, entries: [ENTRY] }));
  const later = due({ ...STATE, previous: first.previous, now: NOW + 48 * HOUR });
  assert.deepEqual(serialsOf(later), ['a1b2']);
});

test('a certificate that has expired is not listed any more', () => {
  const next = due({ ...STATE, entries: [{ ...ENTRY, notAfter: NOW - SECOND }] });
  assert.deepEqual(serialsOf(next), []);
});

test('a number is higher than every one that is known, also after a backup is restored', () => {
  assert.equal(due(STATE).wanted.number, BigInt(NOW / SECOND));
  assert.equal(due({ ...STATE, knownNumber: NOW }).wanted.number, BigInt(NOW) + 1n);
  const before = published(due(STATE));
  const next = due({ ...STATE, ...before, entries: [ENTRY] });
  assert.equal(next.wanted.number, before.previous.number + 1n);
});

test('a CRL is due at half of its validity, or sooner if its content changes', () => {
  const before = published(due(STATE));
  const state = { ...STATE, ...before };
  const early = nextList({ ...state, now: NOW + 11 * HOUR });
  assert.deepEqual(early, { due: false, lookAt: NOW + 12 * HOUR });
  assert.ok(nextList({ ...state, now: NOW + 12 * HOUR }).due);
  assert.ok(nextList({ ...state, entries: [ENTRY] }).due);
  assert.ok(nextList({ ...state, validitySeconds: 3600 }).due);
});

test('after a clock that was ahead is corrected, a CRL is due that is current', () => {
  const ahead = published(due({ ...STATE, now: NOW + 48 * HOUR }));
  const next = due({ ...STATE, ...ahead, now: NOW + HOUR });
  const { thisUpdate, nextUpdate, number } = published(next).previous;
  assert.equal(thisUpdate, NOW + HOUR);
  assert.equal(nextUpdate, NOW + 25 * HOUR);
  assert.equal(number, ahead.previous.number + 1n);
  assert.ok(due({ ...STATE, ...ahead, validitySeconds: 7 * 24 * 3600 }));
});

test('what a clock that was ahead removed is listed again while its Revocation stands', () => {
  const of = (now: number, entries: ListState['entries']): ListState => {
    return { ...STATE, validitySeconds: 7 * 24 * 3600, entries, now };
  };
  const long = { ...ENTRY, serial: 'c3', notAfter: NOW + 300 * HOUR };
  const first = published(due(of(NOW, [ENTRY])));
  const ahead = published(due({ ...of(NOW + 49 * HOUR, [ENTRY, long]), ...first }));
  const without = due({ ...of(NOW + 49.5 * HOUR, [ENTRY]), ...ahead });
  assert.deepEqual(serialsOf(without), ['c3']);
  const back = due({ ...of(NOW + HOUR / 2, [ENTRY, long]), ...published(without) });
  assert.deepEqual(serialsOf(back), ['c3', 'a1b2']);
});
