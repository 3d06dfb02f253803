// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, type CanonicalValue } from '#ledger/records/canonical.ts';
import { bodyBytes, entryOf } from '#ledger/records/entry.ts';
import { sha256 } from '#ledger/log/merkle.ts';
import { readBody, readRecord } from '#ledger/records/record.ts';
import { findable, namespaceOf } from '#ledger/records/terms.ts';
import { CA, issuedRecord, NOW, resultRecord, SENDER } from '../../support/ledger/records.ts';
import { certificateDer, named } from '../../support/pki/certificate-der.ts';
import { san } from '../../support/pki/chain.ts';
import { bits } from '../../support/pki/der.ts';

const MALFORMED = { code: 'LEDGER_MALFORMED' };
const SIGNATURE = new Uint8Array(70);
const canonical = (value: CanonicalValue): string =>
  Buffer.from(canonicalJson(value)).toString('utf8');

test('members are sorted by their UTF-16 units (the example of RFC 8785 §3.2.3)', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  };
  const values = Object.values(JSON.parse(canonical(value)) as Record<string, string>);
  assert.equal(
    canonical(value),
    '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign","\u{1f600}":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  );
  assert.equal(values.length, 7);
});

test('one value has one spelling, whatever the order of its members', () => {
  const json = fc.letrec<{ value: CanonicalValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string({ unit: 'grapheme' }),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(fc.string(), tie('value')),
    ),
  })).value;
  const reversed = (value: CanonicalValue): CanonicalValue =>
    typeof value !== 'object' || value === null
      ? value
      : Array.isArray(value)
        ? value.map(reversed)
        : Object.fromEntries(
            Object.entries(value as Record<string, CanonicalValue>)
              .toReversed()
              .map(([name, member]) => [name, reversed(member)]),
          );
  fc.assert(
    fc.property(json, (value) => {
      assert.equal(canonical(reversed(value)), canonical(value));
      assert.deepEqual(JSON.parse(canonical(value)), JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('what has no canonical spelling is refused', () => {
  for (const value of [0.5, NaN, 2 ** 53, '\ud83d']) {
    assert.throws(() => canonicalJson({ value }), MALFORMED);
  }
});

test('a record survives its bytes, and every bit of salt and record counts', () => {
  const body = {
    appended: { at: new Date(NOW).toISOString(), by: SENDER },
    record: issuedRecord(1),
  };
  const bytes = bodyBytes(body);
  assert.deepEqual(readBody(bytes), body);
  const salt = sha256(Buffer.from('salt'));
  assert.deepEqual(entryOf(salt, bytes), sha256(Buffer.concat([salt, bytes])));
});

test('refuses a record with an extra, missing or wrong member, without repeating it', () => {
  const good = issuedRecord(1);
  const { signer: _, ...withoutSigner } = good;
  const wrong = [
    { ...good, secret: 'hunter2' },
    { ...good, kind: 'hunter2' },
    { ...good, ca: 'hunter2' },
    { ...good, certificate: 'hunter2!' },
    { ...good, at: '2026-11-22T13:30:00+01:00' },
    { ...good, component: { ...good.component, name: '' } },
    { ...resultRecord(1), outcome: 'hunter2' },
    { kind: 'erased', key: 'x', reason: 'retention', removed: [{ log: 1, from: 0, to: 9 }] },
    withoutSigner,
    null,
  ];
  for (const value of wrong) {
    assert.throws(
      () => readRecord(value),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'LEDGER_MALFORMED');
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
  }
});

test('a certificate is found by its serial without the sign octet', () => {
  const { terms, notAfter } = findable(issuedRecord(3));
  assert.deepEqual(
    terms.find(({ kind }) => kind === 'serial'),
    { kind: 'serial', value: '5a0000000000000003' },
  );
  assert.equal(notAfter, NOW + 3 * 60_000);
});

/** A certificate with these DNS names, in base64. */
function certificateFor(dnsNames: readonly string[]): string {
  const names = dnsNames.map((name): readonly [number, string] => [2, name]);
  const extensions = [san(...names)];
  const der = certificateDer({ subject: named('web'), extensions, signature: bits(SIGNATURE) });
  return Buffer.from(der).toString('base64');
}

test('each term is there once and in order, however many names a certificate repeats', () => {
  const distinct = Array.from({ length: 500 }, (_, n) => `n${n}.example.com`);
  const { terms } = findable(
    issuedRecord(1, { certificate: certificateFor([...distinct, ...distinct]) }),
  );
  const sans = terms.filter(({ kind }) => kind === 'san').map(({ value }) => value);
  assert.deepEqual(sans, distinct);
  assert.equal(
    new Set(terms.map(({ kind, value }) => JSON.stringify([kind, value]))).size,
    terms.length,
  );
});

test('one value may be a term of several kinds', () => {
  const { terms } = findable(issuedRecord(1, { certificate: certificateFor(['web']) }));
  const kinds = terms.filter(({ value }) => value === 'web').map(({ kind }) => kind);
  assert.deepEqual(kinds, ['subject', 'san']);
});

test('a record has the terms of 1,000 names; a certificate with more is refused', () => {
  const names = Array.from({ length: 1001 }, (_, n) => `n${n}.example.com`);
  const most = findable(issuedRecord(1, { certificate: certificateFor(names.slice(1)) }));
  assert.equal(most.terms.filter(({ kind }) => kind === 'san').length, 1000);
  assert.throws(() => findable(issuedRecord(1, { certificate: certificateFor(names) })), MALFORMED);
});

test('a record of a removal is found by each living certificate once', () => {
  const living = [CA, CA];
  const removed = [{ log: 1, from: 0, to: 1 }];
  const { terms } = findable({
    kind: 'erased',
    key: 'erased/1',
    reason: 'person',
    removed,
    living,
  });
  assert.deepEqual(terms, [{ kind: 'fingerprint', value: CA }]);
});

test('a record’s namespace is that of its request, its ServiceAccount or its Signer', () => {
  const request = { kind: 'CertificateSigningRequest', name: 'csr', uid: 'csr' };
  const signer = {
    name: 'signers.countersign.dev/team-b.ca',
    object: { namespace: 'b', name: 'ca' },
  };
  const serviceAccount = { namespace: 'a', name: 'web' };
  const belongs = (changes: Parameters<typeof issuedRecord>[1]): string | undefined =>
    namespaceOf(issuedRecord(1, changes));
  assert.equal(belongs({}), 'team-1');
  assert.equal(belongs({ request, signer, requester: { serviceAccount } }), 'a');
  assert.equal(belongs({ request, signer, requester: {} }), 'b');
  assert.equal(belongs({ request, requester: {} }), undefined);
});
