// SPDX-License-Identifier: Apache-2.0
/** The port where verifiers fetch CRLs: what RFC 2585, 5280 and 9110 ask of it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { decodeCertificateList } from '#pki/x509/certificate-list.ts';
import { hexOf } from '#ca/revocation/distribution-points.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import { nextList } from '#ca/revocation/next-list.ts';
import { prepareList } from '#ca/revocation/prepared-list.ts';
import { serialText } from '#ca/revocation/serial.ts';
import { serveLists, type ServedList } from '#ledger/ledger/crl-server.ts';
import type { RunningServer } from '#component/web/server.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import { NOW, leafInput, random } from '../../support/ca/issuing.ts';

const run = promisify(execFile);
const material = { ...(await certificateAuthority()), anchors: undefined };
const authority = openLocalAuthority(material, NOW);
const hex = hexOf(authority.facts.fingerprint);
const signed = async (): Promise<Uint8Array> =>
  authority.sign(prepare(leafInput(authority, { random })), new AbortController().signal);
const [good, bad] = [await signed(), await signed()];

function listWith(serials: readonly string[]): ServedList {
  const next = nextList({
    previous: undefined,
    ends: new Map(),
    knownNumber: 0,
    issuer: authority.facts,
    validitySeconds: 3600,
    backdateSeconds: 60,
    now: NOW,
    entries: serials.map((serial) => ({
      serial,
      revokedAt: NOW,
      reason: 'keyCompromise' as const,
      notAfter: undefined,
    })),
  });
  assert.ok(next.due);
  const der = authority.signList?.(prepareList(encodeTbsList(next.wanted), next.wanted));
  assert.ok(der !== undefined);
  return { der, ...decodeCertificateList(der) };
}

const list = listWith([serialText(decodeCertificate(bad).serial)]);
let held: ServedList | undefined = list;
let isComplete = true;
let server: RunningServer;
let url = '';
before(async () => {
  server = await serveLists({
    listen: '127.0.0.1:0',
    listOf: (asked) => (asked === hex ? held : undefined),
    isComplete: () => isComplete,
    clock: () => NOW,
  });
  url = `http://127.0.0.1:${server.port}/${hex}.crl`;
});
after(() => server.close());

test('a CRL is served as application/pkix-crl, and caches may keep it for five minutes', async () => {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/pkix-crl');
  assert.deepEqual(new Uint8Array(await response.arrayBuffer()), new Uint8Array(list.der));
  assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
  assert.equal(Date.parse(response.headers.get('last-modified') ?? ''), list.thisUpdate);
  assert.equal(Date.parse(response.headers.get('expires') ?? ''), list.nextUpdate);
  assert.match(response.headers.get('etag') ?? '', /^"[0-9a-f]{32}"$/);
});

test('whoever has it already gets no body; a newer one is sent', async () => {
  const etag = (await fetch(url)).headers.get('etag') ?? '';
  const since = new Date(list.thisUpdate).toUTCString();
  for (const headers of [
    { 'if-none-match': `"another", ${etag}` },
    { 'if-none-match': '*' },
    { 'if-modified-since': since },
  ]) {
    const response = await fetch(url, { headers: new Headers(Object.entries(headers)) });
    assert.equal(response.status, 304);
    assert.equal((await response.arrayBuffer()).byteLength, 0);
  }
  held = listWith([]);
  try {
    const changed = { 'if-none-match': etag, 'if-modified-since': since };
    assert.equal((await fetch(url, { headers: changed })).status, 200);
  } finally {
    held = list;
  }
});

test('HEAD has the headers alone; other methods, paths and CAs have nothing', async () => {
  const head = await fetch(url, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get('content-length'), String(list.der.length));
  const post = await fetch(url, { method: 'POST', body: 'x' });
  assert.equal(post.status, 405);
  assert.equal(post.headers.get('allow'), 'GET, HEAD');
  for (const path of ['/', `/${hex}`, `/${hex.toUpperCase()}.crl`, `/${'0'.repeat(64)}.crl`]) {
    const response = await fetch(new URL(path, url));
    assert.equal(response.status, 404, path);
  }
});

test('before all CRLs are known, a missing one is not said to be missing', async () => {
  isComplete = false;
  try {
    const response = await fetch(new URL(`/${'0'.repeat(64)}.crl`, url));
    assert.equal(response.status, 503);
    assert.equal(response.headers.get('retry-after'), '1');
    assert.equal((await fetch(url)).status, 200);
  } finally {
    isComplete = true;
  }
});

test('OpenSSL refuses with -crl_check what the fetched CRL lists, and nothing else', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'crl-'));
  try {
    const write = async (name: string, content: string | Uint8Array): Promise<string> => {
      await writeFile(join(directory, name), content);
      return join(directory, name);
    };
    const ca = await write('ca.pem', material.certificate);
    const der = new Uint8Array(await (await fetch(url)).arrayBuffer());
    const crl = await write('ca.crl', encodePem('X509 CRL', der));
    const verify = async (name: string, leaf: Uint8Array): Promise<string> => {
      const path = await write(name, encodePem('CERTIFICATE', leaf));
      const flags = ['verify', '-crl_check', '-CAfile', ca, '-CRLfile', crl, path];
      return run('openssl', flags).then(
        ({ stdout }) => stdout,
        (error: unknown) => (error as { stderr: string }).stderr,
      );
    };
    assert.match(await verify('good.pem', good), /good\.pem: OK/);
    assert.match(await verify('bad.pem', bad), /certificate revoked/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
