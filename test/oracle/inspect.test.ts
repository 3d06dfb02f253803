// SPDX-License-Identifier: Apache-2.0
/** What `countersign inspect` says of certificates, requests and CRLs is what OpenSSL says. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { InspectedItem, InspectedObject } from '#diagnose/inspect/inspected.ts';
import { readMaterial } from '#diagnose/inspect/read-material.ts';
import { relationsOf } from '#diagnose/inspect/relations.ts';
import { longText, shortText } from '#diagnose/inspect/text.ts';

const PASSWORD = 'correct horse';
const SECRETS = { pkcs12Password: () => Promise.resolve(PASSWORD) };

let directory: string;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'inspect-'));
  const config = join(directory, 'ca.cnf');
  writeFileSync(join(directory, 'index.txt'), '');
  writeFileSync(join(directory, 'crlnumber'), '2A\n');
  writeFileSync(
    config,
    `[ca]\ndefault_ca=d\n[d]\ndatabase=${directory}/index.txt\ncrlnumber=${directory}/crlnumber\ndefault_md=sha256\ndefault_crl_days=7\ncrl_extensions=e\n[e]\nauthorityKeyIdentifier=keyid\n`,
  );
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-384',
    '-nodes',
    '-subj',
    '/C=DE/O=acme, inc/CN=the ca',
    '-days',
    '30',
    '-addext',
    'keyUsage=critical,keyCertSign,cRLSign',
    '-addext',
    'basicConstraints=critical,CA:TRUE,pathlen:0',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  );
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/O=dev/CN=jane',
    '-keyout',
    'leaf.key',
    '-addext',
    'subjectAltName=DNS:a.example,DNS:*.b.example,IP:10.0.0.1,IP:2001:db8::1,URI:spiffe://a/b,email:j@a.example',
    '-addext',
    'keyUsage=critical,digitalSignature,keyEncipherment',
    '-out',
    'leaf.csr',
    '-addext',
    'extendedKeyUsage=serverAuth,clientAuth,1.2.3.4',
    '-addext',
    'crlDistributionPoints=URI:http://crl.example/1.crl',
    '-addext',
    'authorityInfoAccess=OCSP;URI:http://ocsp.example,caIssuers;URI:http://ca.example/ca.der',
  );
  openssl(
    'x509',
    '-req',
    '-in',
    'leaf.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-days',
    '5',
    '-copy_extensions',
    'copyall',
    '-out',
    'leaf.pem',
  );
  const ca = ['ca', '-config', config, '-keyfile', 'ca.key', '-cert', 'ca.pem'];
  openssl(...ca, '-revoke', 'leaf.pem', '-crl_reason', 'keyCompromise');
  openssl(...ca, '-gencrl', '-out', 'list.crl');
});
after(() => {
  rmSync(directory, { recursive: true });
});

for (const name of ['ca.pem', 'leaf.pem']) {
  test(`the fields of a certificate: ${name}`, async () => {
    const { what } = await one(name);
    assert.ok(what.kind === 'certificate');
    const said = openssl(
      'x509',
      '-in',
      name,
      '-noout',
      '-subject',
      '-issuer',
      '-serial',
      '-dates',
      '-fingerprint',
      '-sha256',
      '-nameopt',
      'RFC2253',
    );
    assert.equal(`subject=${what.subject}`, line(said, /^subject=.*/m));
    assert.equal(`issuer=${what.issuer}`, line(said, /^issuer=.*/m));
    assert.equal(`serial=${what.serial.toUpperCase()}`, line(said, /^serial=.*/m));
    assert.equal(Date.parse(what.notBefore), Date.parse(line(said, /(?<=notBefore=).*/)));
    assert.equal(Date.parse(what.notAfter), Date.parse(line(said, /(?<=notAfter=).*/)));
    const digits = line(said, /(?<=Fingerprint=).*/)
      .replaceAll(':', '')
      .toLowerCase();
    assert.equal(what.fingerprint, `sha256:${digits}`);
    assert.equal(what.refusedBecause, undefined);
  });
}

test('the extensions of a certificate', async () => {
  const { what } = await one('leaf.pem');
  assert.ok(what.kind === 'certificate');
  const said = openssl('x509', '-in', 'leaf.pem', '-noout', '-text');
  const names = line(said, /(?<=Subject Alternative Name: \n).*/).trim();
  const { dnsNames, ipAddresses, uris, emails } = what.names;
  assert.deepEqual(
    names.split(', ').map((each) => each.replace('2001:DB8:0:0:0:0:0:1', '2001:db8::1')),
    [
      ...dnsNames.map((each) => `DNS:${each}`),
      ...ipAddresses.map((each) => `IP Address:${each}`),
      ...uris.map((each) => `URI:${each}`),
      ...emails.map((each) => `email:${each}`),
    ],
  );
  assert.equal(
    line(said, /(?<=X509v3 Key Usage: critical\n).*/).trim(),
    'Digital Signature, Key Encipherment',
  );
  assert.deepEqual(what.keyUsage, ['digitalSignature', 'keyEncipherment']);
  assert.deepEqual(what.extKeyUsage, ['serverAuth', 'clientAuth', '1.2.3.4']);
  assert.equal(`URI:${what.crls?.join()}`, line(said, /URI:http:\/\/crl.*/));
  assert.equal(`OCSP - URI:${what.ocsp?.join()}`, line(said, /OCSP - .*/));
  assert.equal(`CA Issuers - URI:${what.issuers?.join()}`, line(said, /CA Issuers - .*/));
  const id = line(said, /(?<=Subject Key Identifier: \n).*/)
    .trim()
    .replaceAll(':', '');
  assert.equal(what.subjectKeyIdentifier, id.toLowerCase());
  const issuer = line(said, /(?<=Authority Key Identifier: \n).*/)
    .trim()
    .replaceAll(':', '');
  assert.equal(what.authorityKeyIdentifier, issuer.toLowerCase());
  assert.match(said, /Public-Key: \(2048 bit\)/);
  assert.equal(what.key.type, 'RSA 2048');
});

test('a CA, its path length and its curve', async () => {
  const { what } = await one('ca.pem');
  assert.ok(what.kind === 'certificate');
  assert.deepEqual([what.isCa, what.pathLen, what.key.type], [true, 0, 'ECDSA P-384']);
  assert.match(openssl('x509', '-in', 'ca.pem', '-noout', '-text'), /CA:TRUE, pathlen:0/);
});

test('a request: its names, its key and whether its signature is valid', async () => {
  const { what } = await one('leaf.csr');
  assert.ok(what.kind === 'request');
  assert.equal(what.isSignatureValid, true);
  const said = openssl('req', '-in', 'leaf.csr', '-noout', '-subject', '-nameopt', 'RFC2253');
  assert.equal(`subject=${what.subject}`, said.trim());
  assert.equal(what.names.dnsNames.join(), 'a.example,*.b.example');
  const der = Buffer.from(
    readFileSync(join(directory, 'leaf.csr'), 'latin1').replaceAll(/-----.*-----/g, ''),
    'base64',
  );
  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
  const [changed] = await readMaterial({ source: 'changed', bytes: der }, SECRETS);
  assert.ok(changed?.what.kind === 'request');
  assert.equal(changed.what.isSignatureValid, false);
});

for (const key of ['ed25519', 'ec P-256', 'ec P-384', 'ec P-521', 'rsa 2048']) {
  const [algorithm = '', size = ''] = key.split(' ');
  test(`a request by a key ${key}: its signature is valid, as OpenSSL says`, async () => {
    const option = algorithm === 'ec' ? `ec_paramgen_curve:${size}` : `rsa_keygen_bits:${size}`;
    const file = `${key.replace(' ', '-')}.csr`;
    const made = ['-newkey', algorithm, ...(size === '' ? [] : ['-pkeyopt', option])];
    openssl('req', '-new', ...made, '-nodes', '-keyout', `${file}.key`, '-subj', '/', '-out', file);
    openssl('req', '-in', file, '-noout', '-verify');
    const { what } = await one(file);
    assert.ok(what.kind === 'request');
    assert.equal(what.isSignatureValid, true);
  });
}

test('a CRL: its number, its times and who is on it', async () => {
  const { what } = await one('list.crl');
  assert.ok(what.kind === 'crl');
  const said = openssl('crl', '-in', 'list.crl', '-noout', '-text');
  assert.equal(what.number, '42');
  assert.match(said, /X509v3 CRL Number: \n\s+42/);
  assert.equal(Date.parse(what.nextUpdate ?? ''), Date.parse(line(said, /(?<=Next Update: ).*/)));
  assert.deepEqual(
    what.revoked.map(({ serial, reason }) => [serial.toUpperCase(), reason]),
    [[line(said, /(?<=Serial Number: ).*/), 'keyCompromise']],
  );
});

test('PKCS#7 and PKCS#12 return their contents, and the key fits its certificate', async () => {
  openssl('crl2pkcs7', '-nocrl', '-certfile', 'leaf.pem', '-certfile', 'ca.pem', '-out', 'both.p7');
  openssl(
    'pkcs12',
    '-export',
    '-in',
    'leaf.pem',
    '-inkey',
    'leaf.key',
    '-certfile',
    'ca.pem',
    '-name',
    'jane',
    '-passout',
    `pass:${PASSWORD}`,
    '-out',
    'both.p12',
  );
  const [leaf, ca] = [await one('leaf.pem'), await one('ca.pem')];
  const prints = [leaf, ca].map(({ what }) => what.kind === 'certificate' && what.fingerprint);
  for (const name of ['both.p7', 'both.p12']) {
    const found = (await all(name)).map(({ what }) => what);
    const certificates = found.filter((each) => each.kind === 'certificate');
    assert.deepEqual(
      certificates.map(({ fingerprint }) => fingerprint),
      prints,
      name,
    );
  }
  const found = await all('both.p12');
  const { keys, signed } = relationsOf(found, undefined, Date.now());
  assert.deepEqual(keys, [{ key: 'both.p12', of: ['both.p12 #1'] }]);
  assert.deepEqual(signed, [
    { certificate: 'both.p12 #1', by: 'both.p12 #2' },
    { certificate: 'both.p12 #2', by: 'both.p12 #2' },
  ]);
});

test('a key of another is the key of nothing, and a bundle of another trusts nothing', async () => {
  openssl('genpkey', '-algorithm', 'ED25519', '-out', 'other.key');
  const found = [...(await all('leaf.pem')), ...(await all('other.key'))];
  const anchors = (name: string): { name: string; pem: string } => ({
    name,
    pem: readFileSync(join(directory, name), 'utf8'),
  });
  const { keys, trusted } = relationsOf(found, [anchors('ca.pem')], Date.now());
  assert.deepEqual(keys, [{ key: 'other.key', of: [] }]);
  assert.deepEqual(trusted, [{ certificate: 'leaf.pem', by: ['ca.pem'] }]);
  const [judged] = relationsOf(found, [anchors('leaf.pem')], Date.now()).trusted ?? [];
  assert.ok(judged);
  assert.deepEqual(judged.by, []);
  assert.ok(judged.why);
});

test('no key is in what is said of it, in any form', async () => {
  const files: string[] = [];
  for (const [name, args] of [
    ['rsa.key', ['-algorithm', 'RSA']],
    ['ec.key', ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['sealed.key', ['-algorithm', 'ED25519', '-aes256', '-pass', `pass:${PASSWORD}`]],
  ] as const) {
    openssl('genpkey', ...args, '-out', name);
    files.push(name);
  }
  for (const name of [...files, 'leaf.key']) {
    const found = await all(name);
    const whole = readFileSync(join(directory, name), 'latin1').replaceAll(/-----.*-----|\s/g, '');
    const items: InspectedObject[] = found.map(({ what }) => what);
    const said = [JSON.stringify(found), longText(items, 0), shortText(items, 0)].join();
    for (let at = 0; at + 24 < whole.length; at += 8) {
      assert.ok(!said.includes(whole.slice(at, at + 24)), name);
    }
    assert.deepEqual(
      found.map(({ der }) => der),
      [undefined],
    );
  }
});

test('another password, and the algorithms of the last century, are said by name', async () => {
  const other = { pkcs12Password: () => Promise.resolve('another one') };
  openssl(
    'pkcs12',
    '-export',
    '-in',
    'leaf.pem',
    '-inkey',
    'leaf.key',
    '-out',
    'new.p12',
    '-passout',
    `pass:${PASSWORD}`,
  );
  openssl(
    'pkcs12',
    '-export',
    '-legacy',
    '-in',
    'leaf.pem',
    '-inkey',
    'leaf.key',
    '-out',
    'old.p12',
    '-passout',
    `pass:${PASSWORD}`,
  );
  const bytes = (name: string): Uint8Array => readFileSync(join(directory, name));
  await assert.rejects(
    readMaterial({ source: 'x', bytes: bytes('new.p12') }, other),
    /password is another one/,
  );
  await assert.rejects(
    readMaterial({ source: 'x', bytes: bytes('old.p12') }, SECRETS),
    /RC2 or 3DES/,
  );
});

async function all(name: string): Promise<readonly InspectedItem[]> {
  return readMaterial({ source: name, bytes: readFileSync(join(directory, name)) }, SECRETS);
}

async function one(name: string): Promise<InspectedItem> {
  const [found] = await all(name);
  assert.ok(found);
  return found;
}

function line(text: string, pattern: RegExp): string {
  return pattern.exec(text)?.[0] ?? `nothing like ${pattern.source} in ${text}`;
}

function openssl(...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync('openssl', args, {
    cwd: directory,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout;
}
