// SPDX-License-Identifier: Apache-2.0
/** The clients that components make for calls out of the cluster, behind a forward proxy. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { createDnsAccess } from '#acme/solving/dns-access.ts';
import { readEgressProxy, type EgressProxy } from '#base/egress/egress-proxy.ts';
import { vaultAccess } from '#component/vault/access.ts';
import { openDestinations } from '#ledger/ledger/publishing/open.ts';
import { startProxy, type TestProxy } from '../support/egress/proxy.ts';
import { tlsCertificate } from '../support/pki/tls-certificate.ts';

const never = new AbortController().signal;
const userAgent = 'test';
const answered: string[] = [];
const server = createServer((request, response) => {
  answered.push(`${request.method ?? ''} ${request.headers.host ?? ''}`);
  response.end('{}');
});
let ca: string;
let proxy: TestProxy;
let through: EgressProxy | undefined;

before(async () => {
  const tls = await tlsCertificate('server', {
    dnsNames: ['vault.example', 'hooks.example', 'objects.example'],
  });
  ca = tls.cert;
  server.setSecureContext(tls);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(async () => {
  answered.length = 0;
  proxy = await startProxy((server.address() as AddressInfo).port);
  through = readEgressProxy({ HTTPS_PROXY: proxy.url });
});
afterEach(() => proxy.stop());
after(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const targets = (): readonly (string | undefined)[] => proxy.requests.map(({ url }) => url);

test('Vault is called through the proxy, by its name', async () => {
  const access = vaultAccess(new Map(), { userAgent, proxy: through });
  const exchange = access.open({ caBundle: ca });
  try {
    const answer = await exchange.send({ method: 'GET', url: 'https://vault.example:8200/v1/pki' });
    assert.equal('status' in answer && answer.status, 200);
    assert.deepEqual(targets(), ['vault.example:8200']);
    assert.deepEqual(answered, ['GET vault.example:8200']);
  } finally {
    await exchange.close();
  }
});

test('checkpoints are published through the proxy, by the names of their places', async () => {
  const places = openDestinations({
    webhook: new URL('https://hooks.example/x'),
    readObjectPlace: () => Promise.resolve('https://objects.example/1'),
    witnesses: [],
    ca,
    userAgent,
    proxy: through,
    store: { tile: () => Promise.reject(new Error('no tile')) },
    clock: Date.now,
  });
  const log = {
    number: 1,
    origin: 'countersign.example/ledger/2026',
    size: 7,
    latest: 0,
    publicKey: new Uint8Array(32),
  };
  try {
    for (const place of places.destinations) {
      const outcome = await place.publish({ log, size: 7, note: 'note' }, never);
      assert.equal(outcome.kind, 'taken', place.name);
    }
    assert.deepEqual(targets(), ['hooks.example:443', 'objects.example:443']);
  } finally {
    await places.close();
  }
});

test('providers and resolvers of ACME are called through the proxy', async () => {
  const flags = { resolver: [], namespacedNetwork: [] };
  const access = createDnsAccess(flags, { userAgent, proxy: through });
  // The tunnel leads to a server of another CA, so each call ends after CONNECT.
  try {
    await access.http.send({ method: 'POST', url: 'https://dns.example/update', body: '{}' });
    const question = { name: 'example.com', type: 'TXT', recursive: true } as const;
    await access.ask('https://resolver.example/dns-query', question, never);
    // The owner of a name in a namespace must not make the proxy resolve it.
    const inside = await access.namespaced.http.send({ method: 'GET', url: 'https://10.0.0.7/' });
    assert.equal('kind' in inside && inside.detail.includes('administrator'), true);
    await access.namespaced.http.send({ method: 'GET', url: 'https://8.8.8.8/' });
    assert.deepEqual(targets(), ['dns.example:443', 'resolver.example:443', '8.8.8.8:443']);
  } finally {
    await Promise.all([access.http.close(), access.namespaced.http.close()]);
  }
});
