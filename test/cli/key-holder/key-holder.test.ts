// SPDX-License-Identifier: Apache-2.0
/** `countersign key-holder` from end to end, over its sockets, also to a component taken over. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignerError } from '#base/errors.ts';
import type { Delay } from '#base/ports.ts';
import { openWithHolder } from '#ca/custody/held.ts';
import { createKeyHolder, type KeyHolder } from '#ca/custody/holder-client.ts';
import { encodeCaTbs } from '#ca/issuance/ca-tbs.ts';
import { encodeLeafTbs } from '#ca/issuance/leaf.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import { encryptPrivateKey } from '#pki/keys/encrypted-key.ts';
import { readPrivateKey } from '#pki/keys/private-key.ts';
import { verifySignature } from '#pki/keys/signature-verification.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import { holderFile } from '../../support/ca/held.ts';
import { leafInput, random } from '../../support/ca/issuing.ts';
import { MAIN } from '../../support/cluster/countersign.ts';

const PASSPHRASE = 'correct horse battery';
const SIGNER = 'example.com/workload';

const material = await certificateAuthority();
const heldMaterial = {
  ...material,
  key: '',
  anchors: undefined,
  heldKey: { name: 'workload', signerName: SIGNER },
};

let folder = '';
const at = (name: string): string => join(folder, name);
const socket = (): string => at('sockets/issuer.sock');

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holder-'));
  writeFileSync(at('ca.crt'), material.certificate);
  const key = await encryptPrivateKey(readPrivateKey(material.key), PASSPHRASE, random);
  writeFileSync(at('ca.key'), key, { mode: 0o600 });
  writeFileSync(at('pass'), `${PASSPHRASE}\n`, { mode: 0o600 });
});
after(() => {
  rmSync(folder, { recursive: true });
});

interface Holder {
  readonly process: ChildProcess;
  readonly log: () => string;
}

const running: ChildProcess[] = [];
const clients: KeyHolder[] = [];
afterEach(async () => {
  for (const each of clients.splice(0)) each.stop();
  for (const each of running.splice(0)) await kill(each);
});

async function kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** Writes the configuration, JSON is YAML, and starts a holder. */
function start(change: (file: Record<string, unknown>) => unknown = (file) => file): Holder {
  const { keys, ...rest } = holderFile(folder);
  const [key] = keys as object[];
  const file = change({ ...rest, keys: [{ ...key, passphraseFile: at('pass') }] });
  writeFileSync(at('holder.json'), JSON.stringify(file));
  const child = spawn(process.execPath, [MAIN, 'key-holder', at('holder.json')]);
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (text += part));
  running.push(child);
  return { process: child, log: () => text };
}

async function listening({ log, process: child }: Holder): Promise<void> {
  while (!log().includes('listening')) {
    assert.deepEqual([child.exitCode, child.signalCode], [null, null], log());
    await sleep(20);
  }
}

const realDelay: Delay = async (ms, signal) => {
  await sleep(ms, undefined, signal === undefined ? {} : { signal });
};

function connect(path = socket(), delay = realDelay): KeyHolder {
  const client = createKeyHolder({ socket: path, monotonic: () => performance.now(), delay });
  clients.push(client);
  return client;
}

const refusedWith =
  (code: string, says: RegExp) =>
  (error: unknown): boolean =>
    error instanceof SignerError && error.code === code && says.test(error.message);

const NEVER = new AbortController().signal;

test('a CA signs by its holder, and the leaf verifies with the key of the CA', async () => {
  await listening(start());
  const authority = openWithHolder(connect())(heldMaterial, Date.now());
  const prepared = prepare(leafInput(authority));
  const leaf = decodeCertificate(await authority.sign(prepared, NEVER));
  const { publicKey } = authority.facts.certificate;
  assert.ok(verifySignature(publicKey, leaf.signatureAlgorithm, leaf.tbs, leaf.signature));
});

test('the socket and its directory are reachable for their user only', async () => {
  await listening(start());
  assert.equal(statSync(socket()).mode & 0o777, 0o600);
  assert.equal(statSync(at('sockets')).mode & 0o027, 0);
});

test('a pcr-issuer taken over gets no CA, CRL, longer life or other key', async () => {
  const holder = start();
  await listening(holder);
  const client = connect();
  const { facts } = openWithHolder(client)(heldMaterial, Date.now());
  const leaf = leafInput({ facts, sign: () => assert.fail() });
  const ca = {
    issuer: facts,
    subject: facts.subject,
    spki: leaf.publicKey.spki,
    pathLen: 0,
    notBefore: leaf.validity.notBefore,
    notAfter: leaf.validity.notAfter,
    random,
  };
  const list = {
    issuer: facts,
    number: 1n,
    thisUpdate: leaf.validity.notBefore,
    nextUpdate: leaf.validity.notAfter,
    revoked: [],
  };
  const longer = { ...leaf.validity, notAfter: leaf.validity.notAfter + 1000 };
  const tries: readonly (readonly [attempt: () => Promise<unknown>, says: RegExp])[] = [
    [() => client.sign('workload', 'leaf', encodeCaTbs(ca)), /basic-constraints-end-entity/],
    [
      () =>
        client.sign(
          'workload',
          'leaf',
          encodeCaTbs({ ...ca, spki: facts.certificate.publicKey.spki }),
        ),
      /basic-constraints-end-entity/,
    ],
    [() => client.sign('workload', 'crl', encodeTbsList(list)), /this socket signs no CRLs/],
    [
      () => client.sign('workload', 'leaf', encodeTbsList(list)),
      /is of version 1, and must be of version 3/,
    ],
    [() => client.sign('other', 'leaf', encodeLeafTbs(leaf)), /no key other/],
    [
      () => client.sign('workload', 'leaf', encodeLeafTbs({ ...leaf, validity: longer })),
      /longest-life/,
    ],
    [
      () =>
        client.sign(
          'workload',
          'leaf',
          encodeLeafTbs({ ...leaf, issuer: { ...facts, subject: leafName() } }),
        ),
      /issuer-name-matches/,
    ],
    [() => client.sign('workload', 'leaf', new Uint8Array(32)), /to-be-signed part/],
    [() => client.sign('workload', 'leaf', new Uint8Array(80_000)), /more than 65536 bytes/],
  ];
  for (const [attempt, says] of tries) {
    await assert.rejects(attempt(), refusedWith('KEY_HOLDER_REFUSED', says), String(says));
  }
  assert.doesNotMatch(holder.log(), /"msg":"signed"/);
  // The same socket signs what the key is for.
  await client.sign('workload', 'leaf', encodeLeafTbs(leaf));
});

function leafName(): Uint8Array {
  return Uint8Array.of(0x30, 0);
}

test('a CRL socket signs each number once, and no leaf', async () => {
  const sockets = [{ path: socket(), uses: [{ key: 'workload', crl: { maxValidity: '1h' } }] }];
  await listening(start((file) => ({ ...file, sockets })));
  const client = connect();
  const { facts } = openWithHolder(client)(heldMaterial, Date.now());
  const { validity } = leafInput({ facts, sign: () => assert.fail() });
  const list = (number: bigint, extra = 0): Uint8Array =>
    encodeTbsList({
      issuer: facts,
      number,
      thisUpdate: validity.notBefore + extra,
      nextUpdate: validity.notAfter,
      revoked: [],
    });
  const first = await client.sign('workload', 'crl', list(7n));
  assert.deepEqual(await client.sign('workload', 'crl', list(7n)), first);
  await assert.rejects(
    client.sign('workload', 'crl', list(7n, 1000)),
    refusedWith('KEY_HOLDER_REFUSED', /higher-number/),
  );
  await client.sign('workload', 'crl', list(8n));
  const leaf = encodeLeafTbs(leafInput({ facts, sign: () => assert.fail() }));
  await assert.rejects(
    client.sign('workload', 'leaf', leaf),
    refusedWith('KEY_HOLDER_REFUSED', /signs no leaves/),
  );
});

test('the same bytes are signed once, so a lost answer makes no second certificate', async () => {
  const holder = start();
  await listening(holder);
  const client = connect();
  const { facts } = openWithHolder(client)(heldMaterial, Date.now());
  const tbs = encodeLeafTbs(leafInput({ facts, sign: () => assert.fail() }));
  const first = await client.sign('workload', 'leaf', tbs);
  assert.deepEqual(await client.sign('workload', 'leaf', tbs), first);
  assert.equal(holder.log().match(/"msg":"signed"/g)?.length, 1);
});

test('a holder that is killed and restarted loses no signature', async () => {
  const first = start();
  await listening(first);
  const client = connect();
  const authority = openWithHolder(client)(heldMaterial, Date.now());
  await authority.sign(prepare(leafInput(authority)), NEVER);
  await kill(first.process);
  const waiting = Array.from({ length: 20 }, () =>
    authority.sign(prepare(leafInput(authority)), NEVER),
  );
  await listening(start());
  const leaves = await Promise.all(waiting);
  assert.equal(new Set(leaves.map((der) => decodeCertificate(der).serial.join())).size, 20);
});

test('a holder that stays away makes requests wait, and its return is reported', async () => {
  let passes = Promise.resolve();
  const client = connect(at('absent.sock'), async (ms, signal) => {
    await passes;
    await realDelay(ms, signal);
  });
  const recovered = Promise.withResolvers<boolean>();
  client.onChange((fault) => {
    if (fault === undefined) recovered.resolve(true);
  });
  const authority = openWithHolder(client)(heldMaterial, Date.now());
  const says = refusedWith('KEY_HOLDER_UNAVAILABLE', /does not answer: .*absent[.]sock.*ENOENT/);
  await assert.rejects(authority.sign(prepare(leafInput(authority)), NEVER), says);
  // While it is known to be away, nothing waits for it: here no delay ends.
  const held = Promise.withResolvers<undefined>();
  passes = held.promise.then(() => undefined);
  await assert.rejects(authority.sign(prepare(leafInput(authority)), NEVER), says);
  held.resolve(undefined);
  const sockets = [
    { path: at('absent.sock'), uses: [{ key: 'workload', leaf: { maxDuration: '1h' } }] },
  ];
  chmodSync(folder, 0o700);
  const holder = start((file) => ({ ...file, sockets }));
  const ended = once(holder.process, 'exit').then(() => assert.fail(holder.log()));
  assert.ok(await Promise.race([recovered.promise, ended]));
});

test('a signer name that the owner of the key did not list gets no signature', async () => {
  await listening(start());
  const heldKey = { name: 'workload', signerName: 'example.com/other' };
  const authority = openWithHolder(connect())({ ...heldMaterial, heldKey }, Date.now());
  await assert.rejects(
    authority.sign(prepare(leafInput(authority)), NEVER),
    refusedWith('AUTHORITY_INVALID', /signerNames of key workload .* lack example.com\/other/),
  );
});

test('a chain of another key is refused before anything is signed', async () => {
  const holder = start();
  await listening(holder);
  const other = await certificateAuthority();
  const authority = openWithHolder(connect())(
    { ...heldMaterial, certificate: other.certificate },
    Date.now(),
  );
  await assert.rejects(
    authority.sign(prepare(leafInput(authority)), NEVER),
    refusedWith('AUTHORITY_INVALID', /is not the key of the CA certificate/),
  );
  assert.doesNotMatch(holder.log(), /"msg":"signed"/);
});

const FAULTS: readonly (readonly [what: string, fault: () => unknown, says: RegExp])[] = [
  [
    'a wrong passphrase',
    () => {
      writeFileSync(at('pass'), 'another passphrase\n');
    },
    /key workload: the passphrase is wrong/,
  ],
  [
    'a key that every user may read',
    () => {
      chmodSync(at('ca.key'), 0o604);
    },
    /key workload: other users may read or write .*ca[.]key; chmod o= /,
  ],
  [
    'a key that its group may write',
    () => {
      chmodSync(at('ca.key'), 0o660);
    },
    /key workload: its group may write .*ca[.]key; chmod g-w /,
  ],
  [
    'a passphrase that every user may read',
    () => {
      chmodSync(at('pass'), 0o644);
    },
    /key workload: other users may read or write .*pass; chmod o= /,
  ],
  [
    'a directory that others may write to',
    () => {
      chmodSync(at('sockets'), 0o770);
    },
    /other users may write to .*sockets/,
  ],
];

for (const [what, fault, says] of FAULTS) {
  test(`does not start with ${what}, and names it without the secret`, async () => {
    mkdirSync(at('sockets'), { recursive: true });
    fault();
    const holder = start();
    const [code] = (await once(holder.process, 'exit')) as [number];
    writeFileSync(at('pass'), `${PASSPHRASE}\n`);
    for (const name of ['ca.key', 'pass']) chmodSync(at(name), 0o600);
    chmodSync(at('sockets'), 0o700);
    assert.equal(code, 2, holder.log());
    assert.match(holder.log(), says);
    assert.doesNotMatch(holder.log(), /another passphrase|correct horse|PRIVATE KEY/);
  });
}

test('a configuration with an unknown field or key is refused with its path', async () => {
  const use = { key: 'absent', leaf: { maxDuration: '1h' } };
  for (const [wrong, says] of [
    [
      { sockets: [{ path: socket(), uses: [use] }] },
      /sockets[.]0[.]uses[.]0[.]key: keys has no absent/,
    ],
    [
      { sockets: [{ path: socket(), uses: [{ ...use, role: 'ca' }] }] },
      /sockets[.]0[.]uses[.]0: .*role/,
    ],
    [{ sockets: [{ path: socket(), uses: [{ key: 'workload' }] }] }, /must have leaf or crl/],
  ] as const) {
    const holder = start((file) => ({ ...file, ...wrong }));
    const [code] = (await once(holder.process, 'exit')) as [number];
    assert.equal(code, 2);
    assert.match(holder.log(), says);
  }
});

test('a restarted holder signs no CRL number again that it stored', async () => {
  const sockets = [{ path: socket(), uses: [{ key: 'workload', crl: { maxValidity: '1h' } }] }];
  const change = (file: Record<string, unknown>): object => ({
    ...file,
    sockets,
    crlNumbers: at('numbers'),
  });
  const first = start(change);
  await listening(first);
  const { facts } = openWithHolder(connect())(heldMaterial, Date.now());
  const { validity } = leafInput({ facts, sign: () => assert.fail() });
  const list = (number: bigint): Uint8Array =>
    encodeTbsList({
      issuer: facts,
      number,
      thisUpdate: validity.notBefore,
      nextUpdate: validity.notAfter,
      revoked: [],
    });
  await connect().sign('workload', 'crl', list(7n));
  await kill(first.process);
  await listening(start(change));
  await assert.rejects(
    connect().sign('workload', 'crl', list(7n)),
    refusedWith('KEY_HOLDER_REFUSED', /higher-number/),
  );
  await connect().sign('workload', 'crl', list(8n));
});

/** Runs the program to its end. */
async function run(...args: readonly string[]): Promise<{ code: number; log: string }> {
  const child = spawn(process.execPath, [MAIN, 'key-holder', ...args]);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => (log += part));
  const [code] = (await once(child, 'exit')) as [number];
  return { code, log };
}

test('a probe of a socket is answered by its holder alone', async () => {
  const args = ['--probe', socket()] as const;
  const away = await run(...args);
  assert.equal(away.code, 1);
  assert.match(away.log, /the key holder does not answer: .*issuer\.sock/);
  const holder = start();
  await listening(holder);
  assert.deepEqual(await run(...args), { code: 0, log: '' });
  assert.doesNotMatch(holder.log(), /refused|failed/);
});

test('the configuration can be an argument, in place of the file and never beside it', async () => {
  const { keys, ...rest } = holderFile(folder);
  const [key] = keys as object[];
  const file = JSON.stringify({ ...rest, keys: [{ ...key, passphraseFile: at('pass') }] });
  const checked = await run(`--configuration=${file}`, '--check');
  assert.equal(checked.code, 0, checked.log);
  assert.match(checked.log, /"msg":"checked"/);
  const says = /name either the file or --configuration/;
  for (const args of [['--check'], [at('holder.json'), `--configuration=${file}`]]) {
    const { code, log } = await run(...args);
    assert.equal(code, 2);
    assert.match(log, says);
  }
  const wrong = await run('--configuration={"kind":"KeyHolder"}');
  assert.match(wrong.log, /--configuration: .*keys/s);
});
