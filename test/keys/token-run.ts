// SPDX-License-Identifier: Apache-2.0
/** `countersign key-holder` with keys in a real PKCS#11 token, which fails in every way. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignerError } from '#base/errors.ts';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { openWithHolder } from '#ca/custody/held.ts';
import { createKeyHolder, type KeyHolder } from '#ca/custody/holder-client.ts';
import { createManagedAuthorities } from '#ca/custody/managed.ts';
import { encodeLeafTbs } from '#ca/issuance/leaf.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import type { AuthorityKeyType } from '#base/vocabulary.ts';
import { LEAF_LIMITS } from '../support/ca/held.ts';
import { leafInput, random } from '../support/ca/issuing.ts';
import { MAIN } from '../support/cluster/countersign.ts';
import { createSoftToken, softHsm, USER_PIN, type SoftToken } from '../support/pkcs11/soft-hsm.ts';

const SIGNER = 'example.com/workload';
const PROGRAM = process.env['COUNTERSIGN_PROGRAM'] ?? MAIN;
const parts = softHsm();
const options = typeof parts === 'string' ? { skip: parts } : {};
const NEVER = new AbortController().signal;

const newCa = createManagedAuthorities(random);
const caOf = (keyType: AuthorityKeyType): Promise<AuthorityMaterial> =>
  newCa({ keyType, commonName: 'Token CA', durationSeconds: 86_400, now: Date.now() });

let folder = '';
let token: SoftToken;
const running: ChildProcess[] = [];
const clients: KeyHolder[] = [];
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'token-run-'));
  if (typeof parts !== 'string') token = createSoftToken(parts);
});
afterEach(async () => {
  for (const each of clients.splice(0)) each.stop();
  for (const child of running.splice(0)) await kill(child);
  if (typeof parts !== 'string') token.remove();
  rmSync(folder, { recursive: true });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

interface Holder {
  readonly process: ChildProcess;
  readonly log: () => string;
  readonly hasLogged: (text: string) => Promise<void>;
}

/** A key of the configuration. */
interface Wanted {
  readonly name: string;
  readonly material: AuthorityMaterial;
  readonly label?: string;
}

function configure(wanted: readonly Wanted[]): void {
  if (typeof parts === 'string') return;
  const keys = wanted.map(({ name, material, label = name }) => {
    writeFileSync(at(`${name}.crt`), material.certificate);
    const pkcs11 = { module: parts.module, token: token.label, pinFile: token.pinFile, label };
    return { name, pkcs11, certificate: at(`${name}.crt`), signerNames: [SIGNER] };
  });
  const uses = wanted.map(({ name: key }) => ({
    key,
    leaf: LEAF_LIMITS,
    crl: { maxValidity: '1h' },
  }));
  const file = {
    apiVersion: 'key-holder.countersign.dev/v1alpha1',
    kind: 'KeyHolder',
    keys,
    sockets: [{ path: at('sockets/s'), uses }],
  };
  writeFileSync(at('holder.json'), JSON.stringify(file));
}

function start(...flags: readonly string[]): Holder {
  assert.ok(typeof parts !== 'string');
  const args = ['key-holder', at('holder.json'), '--pkcs11-addon', parts.addon, ...flags];
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: token.env });
  running.push(child);
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (text += part));
  return {
    process: child,
    log: () => text,
    hasLogged: async (wanted) => {
      while (!text.includes(wanted)) {
        assert.ok(child.exitCode === null && child.signalCode === null, text);
        await sleep(20);
      }
    },
  };
}

function connect(): KeyHolder {
  const client = createKeyHolder({
    socket: at('sockets/s'),
    monotonic: () => performance.now(),
    delay: async (ms, signal) => {
      await sleep(ms, undefined, signal === undefined ? {} : { signal });
    },
  });
  clients.push(client);
  return client;
}

const heldBy = (material: AuthorityMaterial, name: string): AuthorityMaterial => ({
  ...material,
  key: '',
  heldKey: { name, signerName: SIGNER },
});

/** Puts the key of a CA into the token, and starts a holder that opened it. */
async function started(
  label = 'workload',
): Promise<{ holder: Holder; material: AuthorityMaterial }> {
  const material = await caOf('ECDSAP256');
  token.importKey(material.key, label, '01');
  configure([{ name: 'workload', material, label }]);
  const holder = start();
  await holder.hasLogged('token opened');
  await holder.hasLogged('listening');
  return { holder, material };
}

const away =
  (says: RegExp) =>
  (error: unknown): boolean =>
    error instanceof SignerError &&
    error.code === 'KEY_HOLDER_TOKEN_UNAVAILABLE' &&
    says.test(error.message) &&
    !error.message.includes(USER_PIN);

/** Resolves when a leaf is signed. Tries again while the token is away. */
async function signedAgain(client: KeyHolder, material: AuthorityMaterial): Promise<void> {
  for (;;) {
    const authority = openWithHolder(client)(heldBy(material, 'workload'), Date.now());
    try {
      await authority.sign(prepare(leafInput(authority)), NEVER);
      return;
    } catch (error) {
      assert.ok(away(/./)(error), String(error));
      await sleep(50);
    }
  }
}

for (const keyType of ['ECDSAP256', 'ECDSAP384', 'RSA3072', 'RSA4096'] as const) {
  test(`a token signs leaves and CRLs with a key of type ${keyType}`, options, async () => {
    const material = await caOf(keyType);
    token.importKey(material.key, 'workload', 'a1');
    configure([{ name: 'workload', material }]);
    const holder = start();
    await holder.hasLogged('token opened');
    await holder.hasLogged('listening');
    const authority = openWithHolder(connect())(heldBy(material, 'workload'), Date.now());
    const { publicKey } = authority.facts.certificate;
    // Some signatures of ECDSA have short integers.
    const leaves = await Promise.all(
      Array.from({ length: 40 }, () => authority.sign(prepare(leafInput(authority)), NEVER)),
    );
    for (const der of leaves) {
      const leaf = decodeCertificate(der);
      assert.ok(verifySignature(publicKey, leaf.signatureAlgorithm, leaf.tbs, leaf.signature));
    }
    assert.ok(!holder.log().includes(USER_PIN));
  });
}

test('two keys of one token are apart, and found by label and id', options, async () => {
  const [one, two] = [await caOf('ECDSAP256'), await caOf('ECDSAP256')];
  token.importKey(one.key, 'one', '01');
  token.importKey(two.key, 'two', '02');
  configure([
    { name: 'one', material: one },
    { name: 'two', material: two },
  ]);
  const holder = start();
  await holder.hasLogged('token opened');
  await holder.hasLogged('listening');
  const client = connect();
  for (const [name, material] of [
    ['one', one],
    ['two', two],
  ] as const) {
    const authority = openWithHolder(client)(heldBy(material, name), Date.now());
    const leaf = decodeCertificate(await authority.sign(prepare(leafInput(authority)), NEVER));
    const { publicKey } = authority.facts.certificate;
    assert.ok(verifySignature(publicKey, leaf.signatureAlgorithm, leaf.tbs, leaf.signature));
  }
});

test('two keys of one label are refused, until the id names one', options, async () => {
  const material = await caOf('ECDSAP256');
  token.importKey((await caOf('ECDSAP256')).key, 'workload', '01');
  token.importKey(material.key, 'workload', '02');
  configure([{ name: 'workload', material }]);
  const holder = start();
  await holder.hasLogged('several private keys that match');
  await kill(holder.process);
  const file = JSON.parse(readFileSync(at('holder.json'), 'utf8')) as {
    keys: { pkcs11: { id?: string } }[];
  };
  for (const { pkcs11 } of file.keys) pkcs11.id = '02';
  writeFileSync(at('holder.json'), JSON.stringify(file));
  const next = start();
  await next.hasLogged('token opened');
  await next.hasLogged('listening');
  await signedAgain(connect(), material);
});

test('a wrong PIN is tried once, and again when its file changes', options, async () => {
  const material = await caOf('ECDSAP256');
  token.importKey(material.key, 'workload', '01');
  configure([{ name: 'workload', material }]);
  writeFileSync(token.pinFile, 'not-the-pin');
  const holder = start();
  await holder.hasLogged('listening');
  await holder.hasLogged('CKR_PIN_INCORRECT');
  const client = connect();
  const authority = openWithHolder(client)(heldBy(material, 'workload'), Date.now());
  await assert.rejects(
    authority.sign(prepare(leafInput(authority)), NEVER),
    away(/token ca: CKR_PIN_INCORRECT; the next attempt is when pinFile changes/),
  );
  const before = tokenProcesses(holder);
  await sleep(3_000);
  // A second attempt would have started another process.
  assert.deepEqual(tokenProcesses(holder), before);
  assert.deepEqual(before, []);
  writeFileSync(token.pinFile, USER_PIN);
  await signedAgain(client, material);
  assert.doesNotMatch(holder.log(), /not-the-pin/);
});

/** The processes of tokens that a holder has. */
function tokenProcesses({ process: { pid } }: Holder): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        return status.includes(`\nPPid:\t${pid ?? 0}\n`);
      } catch {
        return false;
      }
    });
}

test('a token process that is killed loses no request', options, async () => {
  const { holder, material } = await started();
  const client = connect();
  const authority = openWithHolder(client)(heldBy(material, 'workload'), Date.now());
  const serials = new Set<string>();
  for (let round = 0; round < 5; round += 1) {
    const waiting = Array.from({ length: 20 }, () =>
      authority.sign(prepare(leafInput(authority)), NEVER),
    );
    for (const pid of tokenProcesses(holder)) process.kill(Number(pid), 'SIGKILL');
    for (const der of await Promise.all(waiting)) {
      serials.add(Buffer.from(decodeCertificate(der).serial).toString('hex'));
    }
  }
  assert.equal(serials.size, 100);
  // Each was signed for one certificate.
  const signed = (): number => holder.log().match(/"msg":"signed"/g)?.length ?? 0;
  // The log may arrive after the answer.
  while (signed() < 100) await sleep(20);
  assert.equal(signed(), 100);
  for (const serial of serials) assert.ok(holder.log().includes(`"serial":"${serial}"`), serial);
});

test('a module that hangs is ended, and its requests are signed after that', options, async () => {
  const { holder, material } = await started();
  const client = connect();
  const [pid] = tokenProcesses(holder);
  process.kill(Number(pid), 'SIGSTOP');
  await signedAgain(client, material);
  assert.match(holder.log(), /its module did not answer within 4 s/);
});

test(
  'a token that is pulled makes requests wait with its reason, until it is back',
  options,
  async () => {
    const { holder, material } = await started();
    const client = connect();
    await signedAgain(client, material);
    token.pull();
    for (const pid of tokenProcesses(holder)) process.kill(Number(pid), 'SIGKILL');
    await holder.hasLogged('the module has no token');
    const authority = openWithHolder(client)(heldBy(material, 'workload'), Date.now());
    const recovered = Promise.withResolvers<undefined>();
    client.onChange((fault) => {
      if (fault === undefined) recovered.resolve(undefined);
    });
    await assert.rejects(
      authority.sign(prepare(leafInput(authority)), NEVER),
      away(/token ca: the module has no token/),
    );
    // The holder itself answers.
    assert.equal(await client.probe(), undefined);
    token.plug();
    await recovered.promise;
    await signedAgain(client, material);
  },
);

test('another key under the same label signs nothing', options, async () => {
  const { holder, material } = await started();
  const client = connect();
  await signedAgain(client, material);
  token.empty();
  token.importKey((await caOf('ECDSAP256')).key, 'workload', '01');
  for (const pid of tokenProcesses(holder)) process.kill(Number(pid), 'SIGKILL');
  await holder.hasLogged('is not the key of the certificate');
  const authority = openWithHolder(client)(heldBy(material, 'workload'), Date.now());
  await assert.rejects(
    authority.sign(prepare(leafInput(authority)), NEVER),
    away(/its key of this label or id is not the key of the certificate/),
  );
  token.empty();
  token.importKey(material.key, 'workload', '01');
  await signedAgain(client, material);
});

test('a key that is destroyed and made again while it signs is found again', options, async () => {
  const { material } = await started();
  const client = connect();
  await signedAgain(client, material);
  token.empty();
  token.importKey(material.key, 'workload', '01');
  await signedAgain(client, material);
});

test(
  'bytes that were accepted are signed after a fault, also a CRL by its number',
  options,
  async () => {
    const { holder, material } = await started();
    const client = connect();
    const { facts } = openWithHolder(client)(heldBy(material, 'workload'), Date.now());
    const tbs = encodeLeafTbs(leafInput({ facts, sign: () => assert.fail() }));
    const { validity } = leafInput({ facts, sign: () => assert.fail() });
    const list = encodeTbsList({
      issuer: facts,
      number: 5n,
      thisUpdate: validity.notBefore,
      nextUpdate: validity.notAfter,
      revoked: [],
    });
    for (const pid of tokenProcesses(holder)) process.kill(Number(pid), 'SIGKILL');
    const [leaf, crl] = await Promise.all([
      client.sign('workload', 'leaf', tbs),
      client.sign('workload', 'crl', list),
    ]);
    const { publicKey } = facts.certificate;
    assert.ok(verifySignature(publicKey, facts.signatureAlgorithm, tbs, leaf));
    assert.ok(verifySignature(publicKey, facts.signatureAlgorithm, list, crl));
  },
);

const FAULTS: readonly (readonly [what: string, spoil: () => void, says: RegExp])[] = [
  [
    'a PIN that every user may read',
    () => {
      chmodSync(token.pinFile, 0o644);
    },
    /other users may read or write .*pin; chmod o= /,
  ],
  [
    'a wrong PIN',
    () => {
      writeFileSync(token.pinFile, 'wrong-pin');
    },
    /key workload: token ca: CKR_PIN_INCORRECT/,
  ],
  [
    'no key',
    () => {
      token.empty();
    },
    /key workload: token ca: the token has no such private key/,
  ],
];

for (const [what, spoil, says] of FAULTS) {
  test(`--check fails with ${what}, and names it without the PIN`, options, async () => {
    const material = await caOf('ECDSAP256');
    token.importKey(material.key, 'workload', '01');
    configure([{ name: 'workload', material }]);
    spoil();
    const holder = start('--check');
    const [code] = (await once(holder.process, 'exit')) as [number];
    assert.equal(code, 2);
    assert.match(holder.log(), says);
    assert.doesNotMatch(holder.log(), new RegExp(`${USER_PIN}|wrong-pin`));
  });
}

test('a key of a type that tokens do not sign with is refused by its name', options, async () => {
  const material = await caOf('ED25519');
  configure([{ name: 'workload', material }]);
  const holder = start('--check');
  const [code] = (await once(holder.process, 'exit')) as [number];
  assert.equal(code, 2);
  assert.match(holder.log(), /keys of type Ed25519 in a token are not supported; use ECDSA or RSA/);
});
