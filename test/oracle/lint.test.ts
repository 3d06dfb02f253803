// SPDX-License-Identifier: Apache-2.0
/**
 * Certificates that OpenSSL made with one fault each: `countersign lint` names the rule of RFC
 * 5280.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { lintCertificate } from '#diagnose/lint/certificate-rules.ts';
import type { LintFinding } from '#diagnose/lint/finding.ts';
import { lintRequest } from '#diagnose/lint/lint-request.ts';
import { decodePem } from '#pki/der/pem.ts';

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'lint-'));
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=the ca',
    '-days',
    '30',
    '-addext',
    'keyUsage=critical,keyCertSign,cRLSign',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
});
after(() => {
  rmSync(directory, { recursive: true });
});

const IDS = 'subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n';
const CA = 'basicConstraints=critical,CA:TRUE\n';
const SIGN = 'keyUsage=critical,keyCertSign,cRLSign\n';
const LEAF = 'keyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n';
const NAMES = 'subjectAltName=DNS:a.example\n';

const faults: [rules: string, extensions: string, args?: readonly string[]][] = [
  ['', IDS + LEAF + NAMES],
  ['', IDS + CA + SIGN],
  ['ca-constraints-critical', `${IDS}basicConstraints=CA:TRUE\n${SIGN}`],
  ['cert-sign-is-of-cas', IDS + CA],
  ['cert-sign-is-of-cas', `${IDS}${CA}keyUsage=critical,digitalSignature\n`],
  ['cert-sign-is-of-cas', `${IDS}${SIGN}${NAMES}`],
  [
    'subject-key-identifier',
    `subjectKeyIdentifier=none\nauthorityKeyIdentifier=keyid\n${CA}${SIGN}`,
  ],
  ['authority-key-identifier', `authorityKeyIdentifier=none\n${LEAF}${NAMES}`],
  ['name-constraints-of-cas', `${IDS}${CA}${SIGN}nameConstraints=permitted;DNS:a.example\n`],
  [
    'name-constraints-of-cas',
    `${IDS}${LEAF}${NAMES}nameConstraints=critical,permitted;DNS:a.example\n`,
  ],
  ['key-usage-fits-key', `${IDS}${NAMES}keyUsage=critical,keyEncipherment\n`],
  ['key-usage-critical', `${IDS}${NAMES}keyUsage=digitalSignature\n`],
  ['server-has-names', IDS + LEAF],
  ['usage-present', IDS + NAMES],
  ['critical-understood', `${IDS}${LEAF}${NAMES}1.2.3.4=critical,ASN1:NULL\n`],
  ['serial-positive', IDS + LEAF + NAMES, ['-set_serial', '0']],
];

for (const [
  index,
  [rules, extensions, args = ['-set_serial', '0x1234567890']],
] of faults.entries()) {
  test(`${rules === '' ? 'nothing' : rules} is wrong with certificate ${index}`, () => {
    const findings = lintCertificate(certificate(extensions, args), 'x', Date.now());
    assert.deepEqual(findings.map(({ rule }) => rule).join(), rules, said(findings));
  });
}

test('an empty subject needs a critical subjectAltName', () => {
  const subject = ['-set_serial', '5', '-subj', '/'];
  const rules = (extensions: string): string =>
    lintCertificate(certificate(extensions, subject), 'x', Date.now())
      .map(({ rule }) => rule)
      .join();
  assert.equal(rules(IDS + LEAF + NAMES), 'name-present');
  assert.equal(rules(`${IDS}${LEAF}subjectAltName=critical,DNS:a.example\n`), '');
});

test('a certificate is judged at its time', () => {
  const der = certificate(IDS + LEAF + NAMES, ['-set_serial', '5']);
  const year = 365 * 86_400_000;
  for (const now of [Date.now() - year, Date.now() + year]) {
    assert.deepEqual(
      lintCertificate(der, 'x', now).map(({ rule }) => rule),
      ['in-time'],
    );
  }
});

test('a key that is too short is an error, of certificates and of requests', () => {
  openssl(
    'req',
    '-newkey',
    'rsa:1024',
    '-nodes',
    '-subj',
    '/CN=x',
    '-keyout',
    'w.key',
    '-out',
    'w.csr',
  );
  const request = decodePem(readFileSync(join(directory, 'w.csr'), 'utf8'), 'CERTIFICATE REQUEST');
  const findings = lintRequest({ der: request }, 'x');
  const rules = findings.map(({ rule }) => rule);
  assert.deepEqual(rules, ['unsupported-key-type', 'key-strong'], said(findings));
  assert.match(findings[1]?.message ?? '', /1024/);
});

test('a changed request has no valid signature', () => {
  openssl('req', '-new', '-key', 'ca.key', '-subj', '/CN=jane', '-out', 's.csr');
  const der = decodePem(readFileSync(join(directory, 's.csr'), 'utf8'), 'CERTIFICATE REQUEST');
  assert.deepEqual(lintRequest({ der }, 'x'), []);
  const changed = Uint8Array.from(der, (octet, at) =>
    der.indexOf(0x6a, 10) === at ? 0x6b : octet,
  );
  assert.deepEqual(
    lintRequest({ der: changed }, 'x').map(({ rule }) => rule),
    ['request-signature'],
  );
});

/** Signed by the CA; a key of P-256. */
function certificate(extensions: string, args: readonly string[]): Uint8Array {
  writeFileSync(join(directory, 'ext'), extensions);
  const subject = args.includes('-subj') ? (args[args.indexOf('-subj') + 1] ?? '') : '/CN=x';
  const rest = args.filter((each, at) => each !== '-subj' && args[at - 1] !== '-subj');
  openssl(
    'req',
    '-new',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    subject,
    '-keyout',
    'x.key',
    '-out',
    'x.csr',
  );
  openssl(
    'x509',
    '-req',
    '-in',
    'x.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-days',
    '5',
    '-extfile',
    'ext',
    '-out',
    'x.pem',
    ...rest,
  );
  return decodePem(readFileSync(join(directory, 'x.pem'), 'utf8'), 'CERTIFICATE');
}

function said(findings: readonly LintFinding[]): string {
  return JSON.stringify(findings, undefined, 1);
}

function openssl(...args: readonly string[]): void {
  const { stderr, status } = spawnSync('openssl', args, { cwd: directory, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}
