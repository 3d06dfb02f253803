// SPDX-License-Identifier: Apache-2.0
/** `countersign ceremony` from end to end, judged by OpenSSL and Node. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { encodePem } from '#pki/der/pem.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { CRL, CROSS, INTERMEDIATE, ROOT, ceremonyOf, changed } from '../../support/ca/ceremony.ts';
import { MAIN, countersign, type CommandResult } from '../../support/cluster/countersign.ts';
import { privateKey } from '../../support/pki/keys.ts';

const PASSPHRASE = 'correct horse battery';
const OTHER_PASSPHRASE = 'another staple entirely';

let folder: string;
const at = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(at(name), 'latin1');
/** Writes a ceremony: JSON is YAML. */
const plan = (name: string, sections: Parameters<typeof ceremonyOf>[0]): string => {
  writeFileSync(at(name), JSON.stringify(ceremonyOf(sections)));
  return at(name);
};
const hold = (verb: string, file: string, ...more: readonly string[]): Promise<CommandResult> =>
  countersign(['ceremony', verb, file, '--passphrase-file', at('pass'), '--yes', ...more]);
const verify = (file: string, ...more: readonly string[]): Promise<CommandResult> =>
  countersign(['ceremony', 'verify', file, ...more]);

async function done(result: Promise<CommandResult>): Promise<CommandResult> {
  const held = await result;
  assert.equal(held.code, 0, held.stderr);
  return held;
}

function openssl(...args: readonly string[]): string {
  const env = { ...process.env, PASSPHRASE, OTHER_PASSPHRASE };
  const { stdout, stderr, status } = spawnSync('openssl', args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return `${status === 0 ? '' : `exit ${status}: `}${stdout}${stderr}`;
}

const outputs: CommandResult[] = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ceremony-'));
  for (const [name, passphrase] of [
    ['pass', PASSPHRASE],
    ['other-pass', OTHER_PASSPHRASE],
  ] as const)
    writeFileSync(at(name), `${passphrase}\n`, { mode: 0o600 });
  const crlUrls = ['http://crl.example.com/root.crl'];
  const file = plan('c.yaml', {
    root: ROOT,
    intermediate: changed(INTERMEDIATE, { crlUrls }),
    crl: CRL,
  });
  outputs.push(await done(hold('root', file)));
  const passphrases = ['--new-passphrase-file', at('other-pass')];
  outputs.push(await done(hold('intermediate', file, '--count', '2', ...passphrases)));
  outputs.push(await done(hold('crl', file)));
});
after(() => {
  rmSync(folder, { recursive: true });
});

test('openssl verifies both intermediates by the root, with its CRL', () => {
  openssl('crl', '-inform', 'DER', '-in', 'root.crl', '-out', 'root.crl.pem');
  for (const name of ['intermediate-1.crt', 'intermediate-2.crt']) {
    const { validFrom } = new X509Certificate(read(name));
    const time = `${Date.parse(validFrom) / 1000 + 3600}`;
    const checks = ['-x509_strict', '-CAfile', 'root.crt', '-attime', time];
    assert.equal(openssl('verify', ...checks, name), `${name}: OK\n`);
  }
  const withList = ['-crl_check', '-CRLfile', 'root.crl.pem', '-attime', '1800000000'];
  assert.equal(
    openssl('verify', '-CAfile', 'root.crt', ...withList, 'intermediate-1.crt'),
    'intermediate-1.crt: OK\n',
  );
});

test('openssl crl verifies the CRL by the root', () => {
  const said = openssl('crl', '-inform', 'DER', '-in', 'root.crl', '-CAfile', 'root.crt', '-noout');
  assert.equal(said, 'verify OK\n');
});

test('openssl pkcs8 opens each key by its own passphrase only', () => {
  const opened = (name: string, variable: string): string =>
    openssl('pkcs8', '-in', name, '-passin', `env:${variable}`);
  assert.match(opened('root.key', 'PASSPHRASE'), /^-----BEGIN PRIVATE KEY-----/);
  assert.match(opened('root.key', 'OTHER_PASSPHRASE'), /^exit 1/);
  assert.match(opened('intermediate-1.key', 'OTHER_PASSPHRASE'), /^-----BEGIN PRIVATE KEY-----/);
  assert.match(opened('intermediate-1.key', 'PASSPHRASE'), /^exit 1/);
});

test('the key that openssl opens is that of the certificate', () => {
  const key = openssl('pkey', '-in', 'root.key', '-passin', 'env:PASSPHRASE', '-pubout');
  assert.equal(key, openssl('x509', '-in', 'root.crt', '-pubkey', '-noout'));
});

test('openssl alone verifies the signature of a transcript', () => {
  writeFileSync(at('root.pub'), openssl('x509', '-in', 'root.crt', '-pubkey', '-noout'));
  for (const name of ['root.crt', 'intermediate.crt', 'root.crl']) {
    const signature = ['-signature', `${name}.transcript.sig`, `${name}.transcript.json`];
    assert.equal(openssl('dgst', '-sha256', '-verify', 'root.pub', ...signature), 'Verified OK\n');
  }
});

test('Node verifies an intermediate by the root', () => {
  const [root, made] = ['root.crt', 'intermediate-2.crt'].map(
    (name) => new X509Certificate(read(name)),
  );
  assert.ok(root && made?.verify(root.publicKey) && made.checkIssued(root) && made.ca);
});

test('what is signed was printed before, byte for byte', () => {
  const [printed = ''] = /bytes, SHA-256 (\w{64})/.exec(outputs[0]?.stdout ?? '')?.slice(1) ?? [];
  const [, base64 = ''] = /SHA-256 \w{64}\n((?: {4}\S+\n)+)/.exec(outputs[0]?.stdout ?? '') ?? [];
  const tbs = Buffer.from(base64.replaceAll(/\s/g, ''), 'base64');
  const der = Buffer.from(new X509Certificate(read('root.crt')).raw);
  assert.ok(der.includes(tbs) && tbs.length > 200);
  assert.ok(read('root.crt.transcript.json').includes(printed));
});

test('only its owner reads a key, and all may read the rest', () => {
  const modes = new Map(readdirSync(folder).map((each) => [each, statSync(at(each)).mode & 0o777]));
  for (const [name, mode] of modes) {
    if (name.endsWith('.key')) assert.equal(mode, 0o600, name);
    else assert.equal(mode & ~0o644, 0, name);
  }
});

test('no output and no file has a passphrase', () => {
  const texts = [
    ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    ...readdirSync(folder)
      .filter((each) => !each.endsWith('pass'))
      .map(read),
  ];
  for (const each of texts) assert.ok(!each.includes('horse') && !each.includes('staple'));
});

test('every ceremony is verified, and by JSON the same', async () => {
  const { code, stdout } = await verify(at('c.yaml'));
  assert.equal(code, 0, stdout);
  assert.match(stdout, /verified: everything is as recorded\n$/);
  assert.match(stdout, /Ada Example \(key holder\), Grace Example \(witness\)/);
  assert.match(stdout, /--yes confirmed it: perhaps no person has read the bytes/);
  const json = await verify(at('c.yaml'), 'root', '-o', 'json');
  const [first] = JSON.parse(json.stdout) as { verb: string; findings: { outcome: string }[] }[];
  assert.equal(first?.verb, 'root');
  assert.ok(first.findings.every(({ outcome }) => outcome === 'ok'));
});

test('verify fails for a fingerprint from elsewhere, and for a lost transcript', async () => {
  const other = await verify(at('c.yaml'), 'root', '--ca-fingerprint', `sha256:${'0'.repeat(64)}`);
  assert.equal(other.code, 3);
  assert.match(other.stdout, /ca: fingerprint is sha256:\w{64}, and sha256:0{64} is expected/);
  const file = plan('unheld.yaml', { cross: CROSS });
  const unheld = await verify(file);
  assert.equal(unheld.code, 3);
  assert.match(unheld.stdout, /cross\.crt\.transcript\.json is not there/);
});

test('nothing is overwritten: the second ceremony is refused before it signs', async () => {
  const files = ['root.key', 'root.crt', 'root.crt.transcript.json', 'intermediate-1.key'];
  const before = files.map(read);
  for (const verb of ['root', 'intermediate', 'crl']) {
    const more = verb === 'intermediate' ? ['--count', '2'] : [];
    const passphrases = verb === 'intermediate' ? ['--new-passphrase-file', at('other-pass')] : [];
    const { code, stderr, stdout } = await hold(verb, at('c.yaml'), ...more, ...passphrases);
    assert.equal(code, 2);
    assert.match(stderr, /exists, and is never overwritten/);
    assert.equal(stdout, '');
  }
  assert.deepEqual(files.map(read), before);
});

test('a link in place of an output is not followed', async () => {
  const sections = { root: ROOT, ca: { key: { file: 'l.key' }, certificate: 'l.crt' } };
  const file = plan('link.yaml', sections);
  symlinkSync(at('elsewhere'), at('l.crt'));
  const { code, stderr } = await hold('root', file);
  assert.equal(code, 2);
  assert.match(stderr, /l\.crt exists/);
  assert.ok(!readdirSync(folder).some((each) => ['elsewhere', 'l.key'].includes(each)));
});

test('a dry run prints all, opens no key and writes nothing', async () => {
  const sections = { root: ROOT, ca: { key: { file: 'd.key' }, certificate: 'd.crt' } };
  const file = plan('dry.yaml', sections);
  const before = readdirSync(folder);
  const { code, stdout } = await countersign(['ceremony', 'root', file, '--dry-run']);
  assert.equal(code, 0);
  assert.match(stdout, /CN=Example Root[^]*lint[^]*to be signed[^]*dry run: nothing was signed/);
  assert.deepEqual(readdirSync(folder), before);
});

test('a CSR of another program becomes an intermediate, and its proof is checked', async () => {
  const subject = { commonName: 'From a CSR', organizations: [], organizationalUnits: [] };
  const sans = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
  const der = encodeRequest({ subject, sans, key: privateKey('P-384', 'csr') });
  writeFileSync(at('a.csr'), encodePem('CERTIFICATE REQUEST', der));
  const fields = { key: undefined, csr: 'a.csr', subject: undefined, certificate: 'a.crt' };
  const file = plan('csr.yaml', { intermediate: changed(INTERMEDIATE, fields) });
  await done(hold('intermediate', file));
  assert.match(openssl('x509', '-in', 'a.crt', '-noout', '-subject'), /CN = From a CSR/);
  assert.equal((await verify(file)).code, 0);

  der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
  writeFileSync(at('b.csr'), encodePem('CERTIFICATE REQUEST', der));
  const bad = { ...fields, csr: 'b.csr', certificate: 'b.crt' };
  const refused = await hold(
    'intermediate',
    plan('bad.yaml', { intermediate: changed(INTERMEDIATE, bad) }),
  );
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /intermediate\.csr: b\.csr: the signature of the PKCS#10 request/);
});

test('openssl verifies another root by its cross-certificate', async () => {
  const ca = { key: { file: 'other.key' }, certificate: 'other.crt' };
  const subject = { commonName: 'Other Root' };
  const other = plan('other.yaml', {
    ca,
    root: changed(ROOT, { subject, pathLength: 0, keyType: 'ED25519' }),
  });
  await done(hold('root', other));
  const file = plan('cross.yaml', { cross: CROSS });
  await done(hold('cross', file));
  assert.equal(
    openssl('verify', '-CAfile', 'root.crt', '-attime', '1800000000', 'cross.crt'),
    'cross.crt: OK\n',
  );
  assert.equal((await verify(file)).code, 0);
});

test('the next CRL revokes an intermediate, which openssl then refuses', async () => {
  const crl = changed(CRL, {
    file: 'root-2.crl',
    first: undefined,
    previous: 'root.crl',
    thisUpdate: '2027-02-01T00:00:00Z',
    revoked: [
      {
        certificate: 'intermediate-1.crt',
        revokedAt: '2027-01-31T00:00:00Z',
        reason: 'keyCompromise',
      },
    ],
  });
  const file = plan('crl-2.yaml', { crl });
  await done(hold('crl', file));
  openssl('crl', '-inform', 'DER', '-in', 'root-2.crl', '-out', 'root-2.pem');
  const withList = ['-crl_check', '-CRLfile', 'root-2.pem', '-attime', '1802000000'];
  const said = openssl('verify', '-CAfile', 'root.crt', ...withList, 'intermediate-1.crt');
  assert.match(said, /certificate revoked/);
  assert.equal((await verify(file)).code, 0);
});

test('needs-renewal answers when the ceremony of the next CRL is due', async () => {
  const due = async (share: string): Promise<number | null> =>
    (await countersign(['needs-renewal', at('root.crl'), '--expires-in', share])).code;
  const [begin, end] = [CRL['thisUpdate'], CRL['nextUpdate']].map((each) =>
    Date.parse(String(each)),
  );
  const elapsed = Math.floor((100 * (Date.now() - (begin ?? 0))) / ((end ?? 0) - (begin ?? 0)));
  assert.equal(await due('100%'), elapsed >= 100 ? 0 : 1);
  assert.equal(await due('3650d'), 0);
});

test('a passphrase comes from a file of its owner, and never from the environment', async () => {
  writeFileSync(at('open'), PASSPHRASE);
  chmodSync(at('open'), 0o644);
  const sections = { root: ROOT, ca: { key: { file: 'p.key' }, certificate: 'p.crt' } };
  const file = plan('pass.yaml', sections);
  const args = ['ceremony', 'root', file, '--yes'];
  const open = await countersign([...args, '--passphrase-file', at('open')]);
  assert.equal(open.code, 2);
  assert.match(open.stderr, /others may read it; chmod 600/);
  const none = await countersign(args);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /cannot prompt for "New passphrase for p\.key:"/);
});

test('a wrong passphrase signs nothing', async () => {
  const file = plan('wrong.yaml', { crl: changed(CRL, { file: 'wrong.crl' }) });
  const args = ['ceremony', 'crl', file, '--yes', '--passphrase-file', at('other-pass')];
  const { code, stderr } = await countersign(args);
  assert.equal(code, 2);
  assert.match(stderr, /ca\.key\.file: root\.key: the passphrase is wrong/);
  assert.ok(!readdirSync(folder).includes('wrong.crl'));
});

test('the key of another CA is refused', async () => {
  const ca = { key: { file: 'intermediate-1.key' }, certificate: 'root.crt' };
  const file = plan('mixed.yaml', { ca, crl: changed(CRL, { file: 'mixed.crl' }) });
  const args = ['ceremony', 'crl', file, '--yes', '--passphrase-file', at('other-pass')];
  const { code, stderr } = await countersign(args);
  assert.equal(code, 1);
  assert.match(stderr, /ca\.certificate: it has another key than ca\.key/);
});

test('a fault of the file is named by its path, and what is not YAML by its line', async () => {
  writeFileSync(at('fault.yaml'), 'kind: Ceremony\nroot: {pathLenght: 1}\n');
  const fault = await hold('root', at('fault.yaml'));
  assert.equal(fault.code, 2);
  assert.match(fault.stderr, /fault\.yaml: .*apiVersion: .*root: .*pathLenght/);
  writeFileSync(at('twice.yaml'), 'kind: Ceremony\nkind: Ceremony\n');
  assert.match((await hold('root', at('twice.yaml'))).stderr, /is not YAML: .*line 2/s);
});

test('no connection is needed: the ceremony runs without a network', async () => {
  const sections = { root: ROOT, ca: { key: { file: 'n.key' }, certificate: 'n.crt' } };
  const file = plan('net.yaml', sections);
  const words = [MAIN, 'ceremony', 'root', file, '--yes', '--passphrase-file', at('pass')];
  const isolated = spawnSync('unshare', ['-rn', process.execPath, ...words], { encoding: 'utf8' });
  if (isolated.status !== 0 && /unshare/.test(isolated.stderr)) return;
  assert.equal(isolated.status, 0, isolated.stderr);
  assert.equal((await verify(file)).code, 0);
});

test('an output without a directory is refused before anything is signed', async () => {
  const ca = { key: { file: 'o.key' }, certificate: 'nowhere/o.crt' };
  const { code, stderr, stdout } = await hold('root', plan('nowhere.yaml', { root: ROOT, ca }));
  assert.equal(code, 2);
  assert.match(stderr, /nowhere\/o\.crt: its directory is not there/);
  assert.equal(stdout, '');
});

test('a disk that fills up is an error that lists what was written', async () => {
  const sections = { root: ROOT, ca: { key: { file: 'f.key' }, certificate: 'f.crt' } };
  const file = plan('full.yaml', sections);
  const words = [MAIN, 'ceremony', 'root', file, '--yes', '--passphrase-file', at('pass')];
  const command = [process.execPath, ...words].map((each) => `'${each}'`).join(' ');
  // No file may have more than a kibibyte: a transcript has more, a key and a certificate less.
  const limited = `trap '' XFSZ; ulimit -f 1; exec ${command}`;
  const { status, stderr } = spawnSync('bash', ['-c', limited], { encoding: 'utf8' });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /written before the error: f\.key, f\.crt; the ceremony has no whole/);
  const { code, stdout } = await verify(file);
  assert.equal(code, 3, stdout);
  assert.match(stdout, /f\.crt\.transcript\.sig is not there/);
});

/** Prompt → what to type there, for what was seen. */
type Answers = readonly (readonly [prompt: string, answer: (seen: string) => string])[];

/** Runs the program on a terminal of its own, and types each answer once it prompts. */
async function typed(args: readonly string[], answers: Answers): Promise<string> {
  const command = [process.execPath, MAIN, ...args].map((each) => `'${each}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let seen = '';
  let next = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    const [prompt, answer] = answers[next] ?? [];
    if (prompt === undefined || answer === undefined || !seen.includes(prompt)) return;
    next += 1;
    child.stdin.write(`${answer(seen)}\r`);
  });
  await once(child, 'close');
  return `${seen}\nexit ${child.exitCode}`;
}

const DIGEST = 'to sign these bytes: ';

test('a person types the digest, and anything else signs nothing', async () => {
  const sections = { root: ROOT, ca: { key: { file: 't.key' }, certificate: 't.crt' } };
  const args = ['ceremony', 'root', plan('typed.yaml', sections), '--passphrase-file', at('pass')];
  const wrong = await typed(args, [[DIGEST, () => 'yes']]);
  assert.match(wrong, /not confirmed: nothing was signed or written[^]*exit 3$/);
  assert.ok(!readdirSync(folder).includes('t.key'));
  const digest = (seen: string): string => /SHA-256 (\w{8})\w{56}\r\n {4}/.exec(seen)?.[1] ?? '';
  const right = await typed(args, [[DIGEST, digest]]);
  assert.match(right, /wrote t\.crt[^]*exit 0$/);
  assert.match(read('t.crt.transcript.json'), /"confirmed": "typed"/);
});

test('a new passphrase is typed twice without an echo, and both must be equal', async () => {
  const sections = { root: ROOT, ca: { key: { file: 'e.key' }, certificate: 'e.crt' } };
  const args = ['ceremony', 'root', plan('echo.yaml', sections), '--yes'];
  const answers = (second: string): Answers => [
    ['New passphrase for e.key: ', () => PASSPHRASE],
    ['The same again: ', () => second],
  ];
  const different = await typed(args, answers(OTHER_PASSPHRASE));
  assert.match(different, /the two passphrases differ[^]*exit 2$/);
  const equal = await typed(args, answers(PASSPHRASE));
  assert.match(equal, /wrote e\.crt[^]*exit 0$/);
  for (const seen of [different, equal]) assert.ok(!/horse|staple/.test(seen), seen);
});
