// SPDX-License-Identifier: Apache-2.0
/**
 * nginx with our CRLs (`ssl_crl`): it accepts a client, and refuses it once it has read the CRL
 * that lists it.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { prepare } from '#ca/issuance/prepare.ts';
import { encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { decodePublicKey } from '#pki/keys/public-key.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { encodeTbsList } from '#ca/revocation/encode-list.ts';
import { prepareList } from '#ca/revocation/prepared-list.ts';
import { until } from '../../cluster/until.ts';
import { leafInput, NOW, openAuthority } from '../../support/ca/issuing.ts';
import { Nginx, type Heard } from './nginx.ts';

const PATIENCE = 120_000;
const HOUR = 3_600_000;

const directory = mkdtempSync(join(tmpdir(), 'nginx-crl-'));
const ca = await openAuthority();
let number = 0n;

interface Client {
  readonly serial: Uint8Array;
  readonly cert: string;
  readonly key: string;
}

async function client(): Promise<Client> {
  const { pem, spki } = await generatePrivateKey('ECDSAP256');
  const random = (size: number): Uint8Array => randomBytes(size);
  const prepared = prepare(leafInput(ca, { publicKey: decodePublicKey(spki), random }));
  const der = await ca.sign(prepared, new AbortController().signal);
  const { serial } = decodeCertificate(der);
  return { serial, cert: encodePem('CERTIFICATE', der), key: pem };
}

/** The next CRL of the CA, in PEM. */
function listOf(...revoked: readonly Client[]): string {
  number += 1n;
  const wanted = {
    issuer: ca.facts,
    number,
    thisUpdate: NOW,
    nextUpdate: NOW + HOUR,
    revoked: revoked.map(({ serial }) => ({
      serial,
      revokedAt: NOW,
      reason: 'keyCompromise' as const,
    })),
  };
  const list = ca.signList?.(prepareList(encodeTbsList(wanted), wanted));
  assert.ok(list !== undefined);
  return encodePem('X509 CRL', list);
}

const [stolen, other] = [await client(), await client()];
const nginx = await Nginx.start(directory, {
  clientCas: encodePem('CERTIFICATE', ca.facts.certificate.raw),
  crls: listOf(),
});
after(async () => {
  await nginx.stop();
  rmSync(directory, { recursive: true });
});

test('a client is accepted until nginx has read the CRL that lists it; others stay', async () => {
  const hello: Heard = { status: 200, body: 'hello\n' };
  const heard = await until('nginx answers', PATIENCE, () =>
    nginx.ask(stolen).catch(() => undefined),
  );
  assert.deepEqual(heard, hello);
  nginx.reload(listOf(stolen));
  const refused = await until('nginx has read the CRL', PATIENCE, async () => {
    const answer = await nginx.ask(stolen);
    return answer.status === 200 ? undefined : answer;
  });
  assert.deepEqual(refused, { status: 403, body: 'FAILED:certificate revoked' });
  assert.deepEqual(await nginx.ask(other), hello);
});

test('nginx refuses every client of a CA without a CRL, revoked or not', async () => {
  const stranger = await openAuthority();
  const wanted = {
    issuer: stranger.facts,
    number: 1n,
    thisUpdate: NOW,
    nextUpdate: NOW + HOUR,
    revoked: [],
  };
  const list = stranger.signList?.(prepareList(encodeTbsList(wanted), wanted));
  nginx.reload(encodePem('X509 CRL', list ?? new Uint8Array()));
  const refused = await until('nginx has read the CRL', PATIENCE, async () => {
    const answer = await nginx.ask(other);
    return answer.status === 200 ? undefined : answer;
  });
  assert.deepEqual(refused, { status: 403, body: 'FAILED:unable to get certificate CRL' });
});
