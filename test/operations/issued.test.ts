// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  issuedRow,
  issuedTable,
  wantedRows,
  type IssuedCertificateRow,
  type IssuedFilter,
} from '#operations/issued.ts';
import { OID_COMMON_NAME, OID_ORGANIZATION } from '#pki/der/oids.ts';
import { LINKS } from './signer-states.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');

function row(
  serial: string,
  notAfter: string,
  more: Partial<IssuedCertificateRow> = {},
): IssuedCertificateRow {
  return {
    signerName: 'example.com/workload',
    names: ['a.example.com'],
    serial,
    fingerprint: `sha256:${serial}`,
    notBefore: '2026-01-01T00:00:00Z',
    notAfter,
    source: `record 1-${serial}`,
    authorityKeyIdentifier: 'aa',
    ...more,
  };
}

const ROWS = [
  row('03', '2026-01-09T00:00:00Z', { holder: 'pod team-a/web', namespace: 'team-a' }),
  row('02', '2026-01-02T12:00:00Z', { holder: 'user alice', names: ['alice', 'b.other'] }),
  row('01', '2026-01-01T12:00:00Z'),
  row('02', '2026-01-02T12:00:00Z', { holder: 'user alice', names: ['alice', 'b.other'] }),
];

function serials(filter: Partial<IssuedFilter>): string {
  return wantedRows(ROWS, { expired: false, ...filter }, NOW)
    .map(({ serial }) => serial)
    .join();
}

const laws: [what: string, filter: Partial<IssuedFilter>, wanted: string][] = [
  ['each once, the first to expire first, none that has expired', {}, '02,03'],
  ['also what has expired', { expired: true }, '01,02,03'],
  ['what expires within a day', { expiresIn: 86_400 }, '02'],
  ['a holder', { holder: 'pod team-a/web' }, '03'],
  ['a holder, whole', { holder: 'pod team-a/we' }, ''],
  ['a namespace', { namespace: 'team-a' }, '03'],
  ['a name', { san: 'b.other' }, '02'],
  ['a name, whole', { san: 'other' }, ''],
  ['names that end so', { san: '*.example.com' }, '03'],
  ['a serial number as openssl prints it', { serial: 'serial=02' }, '02'],
  ['two numbers with a colon between them', { serial: '0:02' }, ''],
  ['a serial number with colons and a zero octet', { serial: '00:02' }, '02'],
  ['another signer', { signer: 'example.com/people' }, ''],
  ['another CA', { authorityKeyIdentifiers: ['bb'] }, ''],
];

for (const [what, filter, wanted] of laws) {
  test(`certificates are chosen by ${what}`, () => {
    assert.equal(serials(filter), wanted);
  });
}

test('who wrote a name ends no line of the table', () => {
  const [titles, ...lines] = issuedTable([row('01', 'x', { names: ['a\nb', 'c'] })], true)
    .trimEnd()
    .split('\n');
  assert.match(titles ?? '', /^SIGNER +HOLDER +NAME /);
  assert.equal(lines.length, 1);
});

// kube-apiserver takes the username from CN, and a group from each O.
test('the first name of a client certificate is its user, wherever its groups are', () => {
  const { certificate } = LINKS.a;
  const [known] = certificate.subject.attributes;
  const attributes = [
    { ...known, oid: OID_ORGANIZATION, value: 'dev' },
    { ...known, oid: OID_COMMON_NAME, value: 'jane' },
  ] as typeof certificate.subject.attributes;
  const subject = { ...certificate.subject, attributes };
  const { names } = issuedRow({ ...certificate, subject }, { signerName: 'a/b', source: 'csr a' });
  assert.deepEqual(names, ['jane', 'dev']);
});
