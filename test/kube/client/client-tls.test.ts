// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, mock, test } from 'node:test';
import { syncBuiltinESMExports } from 'node:module';
import tls, { TLSSocket } from 'node:tls';
import { createClient, type Client } from '#kube/client/client.ts';
import type { Credentials, TlsMaterial } from '#kube/client/connection.ts';
import {
  startScriptedServer,
  type Call,
  type ScriptedServer,
} from '../../support/kube/scripted-server.ts';
import { tlsCertificate } from '../../support/pki/tls-certificate.ts';
import { failure } from '../../support/kube/server-and-clients.ts';

let ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.toReversed()) await end();
  ending = [];
});

async function start(tls: Parameters<typeof startScriptedServer>[0]): Promise<ScriptedServer> {
  const server = await startScriptedServer(tls);
  ending.push(() => server.stop());
  server.always((call) => {
    call.answer(200, { connection: call.connection });
  });
  return server;
}

/** A client whose TLS material can be replaced. */
function connect(
  url: string,
  tls: TlsMaterial,
): { client: Client; use: (tls: TlsMaterial) => void; changes: readonly string[] } {
  let current: Credentials = { tls };
  const changes: string[] = [];
  const client = createClient({
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'test',
    onCredentials: (change) => changes.push(change),
    connection: {
      server: url,
      credentials: () => Promise.resolve(current),
      invalidate: () => undefined,
    },
  });
  ending.push(() => client.close());
  return { client, use: (next) => (current = { tls: next }), changes };
}

function tlsOf(call: Call | undefined): TLSSocket {
  assert.ok(call?.socket instanceof TLSSocket);
  return call.socket;
}

test('a request to a server of an unknown CA fails, and the error gives the reason', async () => {
  const [server, other] = await Promise.all([tlsCertificate('server'), tlsCertificate('other')]);
  const { url, calls } = await start(server);
  const { client } = connect(url, { ca: other.cert });
  const error = await failure(client.request({ method: 'GET', path: '/' }));
  assert.equal(error.status, 0);
  assert.match(error.message, /self-signed certificate/);
  assert.deepEqual(calls, []);
});

test('connections of a client share one TLS context', async () => {
  const identity = await tlsCertificate('server');
  const { url } = await start(identity);
  const { client } = connect(url, { ca: identity.cert });
  const created = mock.method(tls, 'createSecureContext');
  syncBuiltinESMExports();
  ending.push(() => {
    created.mock.restore();
    syncBuiltinESMExports();
    return Promise.resolve();
  });
  const answers = await Promise.all(
    Array.from({ length: 4 }, () =>
      client.request<{ connection: number }>({ method: 'GET', path: '/' }),
    ),
  );
  assert.equal(new Set(answers.map(({ connection }) => connection)).size, 4);
  await client.stream({ method: 'GET', path: '/' });
  assert.equal(created.mock.callCount(), 1);
});

test('TLS material that OpenSSL cannot read fails the request, with the reason', async () => {
  const identity = await tlsCertificate('server');
  const { url } = await start(identity);
  const { client } = connect(url, { ca: identity.cert, cert: 'no PEM', key: 'no PEM' });
  const error = await failure(client.request({ method: 'GET', path: '/' }));
  assert.equal(error.status, 0);
  assert.match(error.message, /no start line/);
});

test('a replaced CA file applies to new connections; a watch on an old one continues', async () => {
  const [before, after] = await Promise.all([tlsCertificate('before'), tlsCertificate('after')]);
  const old = await start(before);
  const { client, use, changes } = connect(old.url, { ca: before.cert });
  await client.request({ method: 'GET', path: '/' });
  old.always((call) => {
    if (call.path === '/watch') call.lines({ n: 1 });
    else call.answer(200, {});
  });
  const stream = await client.stream({ method: 'GET', path: '/watch' });
  const chunks = stream[Symbol.asyncIterator]();
  await chunks.next();

  use({ ca: after.cert });
  const error = await failure(client.request({ method: 'GET', path: '/' }));
  assert.match(error.message, /self-signed certificate/, 'the old server is no longer trusted');
  old.calls.at(-1)?.lines({ n: 2 });
  const next = await chunks.next();
  assert.equal(Buffer.from(next.value as Uint8Array).toString(), '{"n":2}\n');

  use({ ca: before.cert + after.cert });
  assert.deepEqual(await client.request({ method: 'GET', path: '/' }), {});
  assert.deepEqual(changes, ['tls', 'tls'], 'each is counted');
});

test('reading the same TLS material again keeps the connections', async () => {
  const certificate = await tlsCertificate('server');
  const { url } = await start(certificate);
  const { client, use, changes } = connect(url, { ca: certificate.cert });
  const first = await client.request<{ connection: number }>({ method: 'GET', path: '/' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  use({ ca: certificate.cert });
  assert.deepEqual(await client.request({ method: 'GET', path: '/' }), first);
  assert.deepEqual(changes, []);
});

test('a client certificate is presented, and a replaced one on the next connection', async () => {
  const [certificate, jane, joe] = await Promise.all(
    ['server', 'jane', 'joe'].map((name) => tlsCertificate(name)),
  );
  assert.ok(certificate && jane && joe);
  const ca = [jane.cert, joe.cert];
  const server = await start({ ...certificate, ca, requestCert: true, rejectUnauthorized: true });
  const seen: unknown[] = [];
  server.always((call) => {
    seen.push(tlsOf(call).getPeerCertificate().subject.CN);
    call.answer(200, {});
  });
  const { client, use } = connect(server.url, { ca: certificate.cert, ...jane });
  await client.request({ method: 'GET', path: '/' });
  use({ ca: certificate.cert, ...joe });
  await client.request({ method: 'GET', path: '/' });
  assert.deepEqual(seen, ['jane', 'joe']);
});

test('an API server at an IPv6 address is verified by this address', async () => {
  const [named, other] = await Promise.all([
    tlsCertificate('server', { addresses: ['::1'] }),
    tlsCertificate('server', { addresses: ['fd00::1'] }),
  ]);
  for (const { cert, key } of [named, other]) {
    const server = createServer({ cert, key }, (_request, response) => response.end('{}'));
    server.listen(0, '::1');
    await once(server, 'listening');
    ending.push(async () => {
      server.close();
      await once(server, 'close');
    });
    const { port } = server.address() as AddressInfo;
    const { client } = connect(`https://[::1]:${port}`, { ca: cert });
    const call = client.request({ method: 'GET', path: '/' });
    if (cert === named.cert) assert.deepEqual(await call, {});
    else assert.match((await failure(call)).message, /IP: ::1 is not in the cert's list/);
  }
});

test('the client uses HTTP/1.1 if offered HTTP/2: a dead connection costs one watch', async () => {
  const certificate = await tlsCertificate('server');
  const server = await start({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] });
  const { client } = connect(server.url, { ca: certificate.cert });
  await client.request({ method: 'GET', path: '/' });
  assert.equal(tlsOf(server.calls[0]).alpnProtocol, 'http/1.1');
});
