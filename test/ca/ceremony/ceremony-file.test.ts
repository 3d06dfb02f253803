// SPDX-License-Identifier: Apache-2.0
/** The file of a ceremony: each fault is refused by the path of its field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SIGNING_VERBS, readCeremony } from '#ca/ceremony/ceremony-file.ts';
import { warningsOf } from '#ca/ceremony/warnings.ts';
import { CRL, CROSS, INTERMEDIATE, ROOT, ceremonyOf, changed } from '../../support/ca/ceremony.ts';
import { refuses } from '../../support/pki/refuses.ts';

const ALL = { root: ROOT, intermediate: INTERMEDIATE, cross: CROSS, crl: CRL };

test('a file with every section is read', () => {
  const file = readCeremony(ceremonyOf(ALL), 'c.yaml');
  assert.deepEqual(
    SIGNING_VERBS.filter((verb) => verb in file),
    SIGNING_VERBS,
  );
});

const root = (fields: object): object => ceremonyOf({ root: changed(ROOT, { ...fields }) });
const made = (fields: object): object =>
  ceremonyOf({ intermediate: changed(INTERMEDIATE, { ...fields }) });
const crl = (fields: object): object => ceremonyOf({ crl: changed(CRL, { ...fields }) });
const dns = (text: string): object => root({ nameConstraints: { dns: { permitted: [text] } } });
const entry = { serial: '0a', revokedAt: '2027-01-01T00:00:00Z', reason: 'superseded' };

const faults: Readonly<Record<string, readonly [unknown, RegExp]>> = {
  'that is no mapping': [[], /^c\.yaml: the file: /],
  'of another kind': [ceremonyOf({ kind: 'Issuer' }), /kind: /],
  'of another version': [ceremonyOf({ apiVersion: 'v1' }), /apiVersion: /],
  'with an unknown section': [ceremonyOf({ ocsp: {} }), /the file: .*"ocsp"/],
  'with an unknown field': [root({ pathLenght: 1 }), /root: .*"pathLenght"/],
  'with an unknown field of the key': [
    ceremonyOf({ ca: { key: { file: 'a', pin: '1234' }, certificate: 'b' } }),
    /ca\.key: .*"pin"/,
  ],
  'without persons': [ceremonyOf({ present: [] }), /present: /],
  'without a path length': [root({ pathLength: undefined }), /root\.pathLength: /],
  'with a negative path length': [root({ pathLength: -1 }), /root\.pathLength: /],
  'with a path length of nine': [root({ pathLength: 9 }), /root\.pathLength: /],
  'with an unknown key type': [root({ keyType: 'RSA2048' }), /root\.keyType: /],
  'with an empty common name': [root({ subject: { commonName: '' } }), /root\.subject\.commonName/],
  'with a time in another zone': [
    root({ notBefore: '2027-01-01T00:00:00+01:00' }),
    /root\.notBefore: must be a time such as/,
  ],
  'with a day that does not exist': [root({ notBefore: '2027-02-30T00:00:00Z' }), /notBefore/],
  'that ends before it begins': [
    root({ notAfter: '2026-01-01T00:00:00Z' }),
    /root\.notAfter: 2026-01-01T00:00:00Z is not later than 2027/,
  ],
  'with a wildcard as constraint': [dns('*.example.com'), /dns\.permitted\.0: must be a domain/],
  'with a leading dot as constraint': [dns('.example.com'), /dns\.permitted\.0: must be a domain/],
  'with upper case as constraint': [dns('Example.com'), /dns\.permitted\.0: must be a domain/],
  'with empty constraints': [root({ nameConstraints: {} }), /nameConstraints: must have dns/],
  'with constraints of no name': [
    root({ nameConstraints: { dns: {} } }),
    /nameConstraints\.dns: must have permitted/,
  ],
  'with a URL as URI constraint': [
    root({ nameConstraints: { uris: { permitted: ['spiffe://example.com'] } } }),
    /uris\.permitted\.0: must be a host/,
  ],
  'with neither csr nor key': [made({ key: undefined }), /intermediate: must have exactly one/],
  'with csr and key': [
    made({ csr: 'a.csr' }),
    /intermediate: must have exactly one of csr and key/,
  ],
  'with a made key and no subject': [made({ subject: undefined }), /intermediate\.subject: /],
  'with a period of days': [made({ every: '365d' }), /intermediate\.every: must be a duration/],
  'with a CRL on a file system': [made({ crlUrls: ['file:///a.crl'] }), /crlUrls\.0: must be an/],
  'with neither previous nor first': [crl({ first: undefined }), /crl: must have exactly one/],
  'with previous and first': [crl({ previous: 'old.crl' }), /crl: must have exactly one/],
  'with a serial number that YAML reads as a number': [
    crl({ revoked: [{ ...entry, serial: 10 }] }),
    /crl\.revoked\.0\.serial: /,
  ],
  'with colons between other than pairs of digits': [
    crl({ revoked: [{ ...entry, serial: '0a1b:2c' }] }),
    /crl\.revoked\.0\.serial: /,
  ],
  'with a serial number of more than 20 octets': [
    crl({ revoked: [{ ...entry, serial: 'a'.repeat(41) }] }),
    /crl\.revoked\.0\.serial: /,
  ],
  'with a reason that is no reason': [
    crl({ revoked: [{ ...entry, reason: 'cACompromise' }] }),
    /crl\.revoked\.0\.reason: /,
  ],
  'with an entry of two names': [
    crl({ revoked: [{ ...entry, certificate: 'a.crt' }] }),
    /crl\.revoked\.0: must have exactly one/,
  ],
  'with a line end in a path': [made({ certificate: 'a\nb' }), /intermediate\.certificate: /],
  'with one path for two outputs': [
    made({ certificate: 'root.crt' }),
    /intermediate\.certificate: root\.crt is also ca\.certificate/,
  ],
};

for (const [name, [value, message]] of Object.entries(faults)) {
  test(`a file ${name} is refused`, () => {
    refuses(() => readCeremony(value, 'c.yaml'), 'USAGE', message);
  });
}

test('URI constraints need a flag, and the warning names who refuses and ignores them', () => {
  const file = readCeremony(
    root({ nameConstraints: { uris: { permitted: ['example.com'] } } }),
    'c.yaml',
  );
  const named = /rustls .*refuses.*GnuTLS ignores/;
  refuses(() => warningsOf(file, 'root', false), 'USAGE', named);
  refuses(() => warningsOf(file, 'root', false), 'USAGE', /--allow-uri-constraints/);
  const [warning = ''] = warningsOf(file, 'root', true);
  assert.match(warning, named);
});

test('DNS constraints need no flag, and the warning names who compares a common name', () => {
  const file = readCeremony(dns('example.com'), 'c.yaml');
  const named = /GnuTLS refuses .* a common name, and OpenSSL and Node .* jane\.doe/;
  assert.match(warningsOf(file, 'root', false).join(), named);
});

test('no constraints, no warning', () => {
  assert.deepEqual(warningsOf(readCeremony(root({}), 'c.yaml'), 'root', false), []);
});

test('a CRL warns when its next ceremony is due: after half of its life', () => {
  const [warning = ''] = warningsOf(readCeremony(crl({}), 'c.yaml'), 'crl', false);
  assert.match(warning, /by 2027-07-02; from 2028-01-01T00:00:00Z/);
});
