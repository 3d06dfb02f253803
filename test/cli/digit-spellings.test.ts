// SPDX-License-Identifier: Apache-2.0
/** Serial numbers and fingerprints as OpenSSL, keytool and browsers print them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { serialDigits, sha256Fingerprint } from '#base/hex-digits.ts';
import { canonicalSerial, serialText } from '#ca/revocation/serial.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeCertificate, fingerprint } from '#pki/x509/certificate.ts';
import { program } from '#cli/program.ts';
import { issuedRow, wantedRows } from '#operations/issued.ts';
import { isSerial } from '#operations/revoking/plan.ts';
import { resolveFingerprint } from '#operations/resolve-fingerprint.ts';
import { parseFieldSelector } from '#ledger/ledger/api/selector.ts';
import { openAuthority } from '../support/ca/issuing.ts';
import { print, state } from '../operations/signer-states.ts';

const ca = decodeCertificate((await openAuthority()).facts.certificate.raw);
const pem = encodePem('CERTIFICATE', ca.raw);
const openssl = (...args: readonly string[]): string =>
  execFileSync('openssl', ['x509', '-noout', ...args], { input: pem, encoding: 'utf8' });

const own = fingerprint(ca.raw);
const digits = own.slice('sha256:'.length);
const pairs = (text: string, by: string): string => (text.match(/../g) ?? []).join(by);
const prints: readonly string[] = [
  own,
  digits,
  digits.toUpperCase(),
  pairs(digits.toUpperCase(), ':'),
  pairs(digits.toUpperCase(), ' '),
  openssl('-fingerprint', '-sha256'),
  openssl('-fingerprint', '-sha256').replace(/^sha256/i, 'SHA256'),
  `SHA-256 Fingerprint: ${pairs(digits.toUpperCase(), ':')}`,
  `SHA256: ${pairs(digits.toUpperCase(), ':')}`,
  `SHA256:${digits.toUpperCase()}`,
];

test('a fingerprint is read as OpenSSL, keytool and browsers print it', () => {
  assert.deepEqual(prints.map(sha256Fingerprint), Array(prints.length).fill(own));
});

test('another hash, a prefix, and other text is no SHA-256 fingerprint', () => {
  const others = [openssl('-fingerprint', '-sha1'), digits.slice(0, 40), `${own}0`, '', 'ca.pem'];
  assert.deepEqual(others.map(sha256Fingerprint), Array(others.length).fill(undefined));
});

test('a serial number is read as OpenSSL and browsers print it', () => {
  const serial = serialText(ca.serial);
  const text = openssl('-text');
  const [, printed = ''] = /Serial Number:\s*(.*)/.exec(text) ?? [];
  const upper = Buffer.from(ca.serial).toString('hex').toUpperCase();
  const all = [
    openssl('-serial'),
    printed,
    `Serial Number: ${printed}`,
    `0x${upper}`,
    pairs(upper, ':'),
    upper,
  ];
  assert.deepEqual(
    all.map((each) => serialText(Buffer.from(serialDigits(each).padStart(40, '0'), 'hex'))),
    Array(all.length).fill(serial),
  );
  // OpenSSL prints a serial number of up to eight octets in both bases.
  assert.equal(serialDigits('4096 (0x1000)'), '1000');
});

test('what is not one serial number is not read as another one', () => {
  const others = [
    // Two in one argument, and the beginning of a fingerprint.
    '0a1b2c3d\n4e5f6071',
    '0a1b2c3d 4e5f6071',
    own.slice(0, 40),
    openssl('-fingerprint', '-sha256'),
    openssl('-fingerprint', '-sha1'),
    // OpenSSL prints the same number twice, and a negative one with its sign.
    '4096 (0x1001)',
    '-4096 (-0x1000)',
  ];
  for (const each of others) assert.ok(!isSerial(canonicalSerial(each)), each);
});

test('a serial number with its label is no fingerprint', () => {
  assert.equal(sha256Fingerprint(`serial=${digits}`), undefined);
});

/** Returns the options that a command line gives to its command. */
async function optionsOf(words: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const root = program('countersign', (code) => {
    throw new Error(`exit ${code}`);
  });
  let options = {};
  let command = root;
  for (const word of words) {
    command = command.commands.find((each) => each.name() === word) ?? command;
    command.configureOutput({ writeErr: () => undefined });
  }
  command.action(() => {
    options = command.opts();
  });
  await root.parseAsync(['node', 'countersign', ...words]);
  return options;
}

const WHOLE: readonly (readonly [option: string, words: readonly string[]])[] = [
  ['ca', ['revoke', '--ca']],
  ['caFingerprint', ['ceremony', 'verify', 'ceremony.yaml', '--ca-fingerprint']],
  [
    'rootFingerprint',
    ['authority', 'install', 'workload', '--chain', 'chain.pem', '--root-fingerprint'],
  ],
];

for (const [option, words] of WHOLE) {
  test(`${words.at(-1)} takes every spelling, and no part of one`, async () => {
    for (const each of prints) {
      assert.equal((await optionsOf([...words, each]))[option], own, each);
    }
    await assert.rejects(optionsOf([...words, digits.slice(0, 12)]), /exit 2/);
  });
}

test('authority verbs find a CA by every spelling of its fingerprint', () => {
  const signer = state({ authorities: { a: 'Active' } });
  const known = print('a');
  const upper = known.slice('sha256:'.length).toUpperCase();
  for (const each of [`SHA256 Fingerprint=${pairs(upper, ':')}`, pairs(upper, ':').slice(0, 23)]) {
    const found = resolveFingerprint(signer, each);
    assert.equal('fingerprint' in found && found.fingerprint, known, each);
  }
});

test('issued and the ledger find a certificate by every spelling of its serial', () => {
  const row = issuedRow(ca, { signerName: 'example.com/workload', source: 'csr a' });
  for (const each of [openssl('-serial').trim(), `0x${serialText(ca.serial)}`]) {
    assert.deepEqual(wantedRows([row], { serial: each, expired: true }, 0), [row], each);
    const selector = `serial=${each.replace('=', '\\=')}`;
    const found = parseFieldSelector(selector, { now: 0 });
    const plain = parseFieldSelector(`serial=${serialText(ca.serial)}`, { now: 0 });
    assert.deepEqual(found, plain, each);
  }
  for (const each of prints.map((text) => text.trim().replace('=', '\\='))) {
    const found = parseFieldSelector(`ca=${each}`, { now: 0 });
    assert.deepEqual('terms' in found && found.terms, [{ kind: 'ca', value: own }], each);
  }
});
