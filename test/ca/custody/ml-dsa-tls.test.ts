// SPDX-License-Identifier: Apache-2.0
/** That somebody can use what an ML-DSA-65 CA signs: TLS of OpenSSL 3.5, which Node 24 brings. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { EMPTY_SUBJECT } from '#ca/issuance/leaf-subject.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { encodePem } from '#pki/der/pem.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import { NOW, leafInput, publicKeyInfo } from '../../support/ca/issuing.ts';
import { privateKey } from '../../support/pki/keys.ts';

const HOST = 'web.team-a.svc';

/** A pod's key and its certificate, PEM. */
async function credential(
  material: AuthorityMaterial,
  who: string,
): Promise<{ key: string; cert: string }> {
  const key = privateKey('P-256', who);
  const authority = openLocalAuthority(material, NOW);
  const subject = { ...EMPTY_SUBJECT, dnsNames: [HOST], uris: [`spiffe://example/${who}`] };
  const prepared = prepare(leafInput(authority, { subject, publicKey: publicKeyInfo(key) }));
  const leaf = await authority.sign(prepared, new AbortController().signal);
  return {
    key: String(key.export({ type: 'pkcs8', format: 'pem' })),
    cert: encodePem('CERTIFICATE', leaf),
  };
}

interface Meeting {
  /** Signed both certificates, and is trusted by the server. */
  readonly by: AuthorityMaterial;
  readonly clientTrusts: AuthorityMaterial;
}

/** @returns who the server says the client is */
async function meet({ by, clientTrusts }: Meeting): Promise<string> {
  const server = createServer({
    ...(await credential(by, 'server')),
    ca: by.certificate,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.end(socket.getPeerCertificate().subjectaltname ?? 'nobody');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect({
    ...(await credential(by, 'client')),
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    servername: HOST,
    ca: clientTrusts.certificate,
  });
  try {
    const [said] = (await once(socket, 'data')) as [Buffer];
    return said.toString();
  } finally {
    socket.destroy();
    server.close();
  }
}

const authority = async (): Promise<AuthorityMaterial> => ({
  ...(await certificateAuthority({ keyType: 'MLDSA65' })),
  anchors: undefined,
});
const ours = await authority();

test('pods with ordinary keys trust each other through an ML-DSA-65 CA', async () => {
  assert.match(
    await meet({ by: ours, clientTrusts: ours }),
    /^DNS:.*URI:spiffe:\/\/example\/client$/,
  );
});

test('pods do not trust each other through another ML-DSA-65 CA', async () => {
  const clientTrusts = await authority();
  await assert.rejects(meet({ by: ours, clientTrusts }), /certificate|signature/);
});
