// SPDX-License-Identifier: Apache-2.0
/** What of a server's authorizations becomes part of an Order. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { takeOrderStep, type OrderRequest } from '#acme/issuing/order-calls.ts';
import { NO_ORDER_MEMORY } from '#acme/orders/memory.ts';
import type { OrderAfter } from '#acme/orders/order-events.ts';
import { toWrite } from '#acme/orders/status.ts';
import { newKey } from '../calls.ts';
import { json, startScriptedServer, type ScriptedServer } from '../scripted-server.ts';

let server: ScriptedServer;
before(async () => {
  server = await startScriptedServer();
});
after(() => server.stop());

const NAMES = ['a.example', '*.b.example', '2001:db8::1'] as const;
const request = {
  csr: new Uint8Array(),
  spki: new Uint8Array(),
  maxSeconds: 1,
  identifiers: NAMES.map((value) => ({ type: value.includes(':') ? 'ip' : 'dns', value }) as const),
} satisfies OrderRequest;

const long = (what: string): string => `${server.origin}/${what}/`.padEnd(2048, 'x');
const challenge = (type: string, index: number): object => ({
  type,
  url: long(`c${index}`),
  status: 'pending',
  token: 't'.repeat(255),
});

async function step(
  which: { readonly step: 'readAuthorization' | 'readOrder' },
  path: string,
  body: object,
): Promise<OrderAfter> {
  server.reply[path] = json(200, body);
  const client = server.client();
  const url = `${server.origin}${path}`;
  const account = { account: `${server.origin}/account/1`, key: await newKey() };
  try {
    return await takeOrderStep(
      { server: client, account } as never,
      request,
      { ...which, url },
      {
        status: { url },
        memory: NO_ORDER_MEMORY,
        uid: 'u',
        replaces: false,
        now: 0,
      },
    );
  } finally {
    await client.close();
  }
}

const authorizationOf = (value: string, challenges: readonly object[]): Promise<OrderAfter> =>
  step({ step: 'readAuthorization' }, '/authz', {
    identifier: { type: 'dns', value },
    status: 'pending',
    challenges,
  });

for (const name of ['a.example', 'A.EXAMPLE', 'b.example', '2001:DB8:0::1']) {
  test(`an authorization for ${name} is one of the Order`, async () => {
    const { status } = await authorizationOf(name, [challenge('dns-01', 1)]);
    assert.equal(status.authorizations?.length, 1, status.message);
  });
}

for (const name of ['victim.example', 'x.a.example', 'example', '*.a.example']) {
  test(`an authorization for ${name}, not in the order, writes no record`, async () => {
    const { status } = await authorizationOf(name, [challenge('dns-01', 1)]);
    assert.equal(status.authorizations, undefined);
    assert.match(status.message ?? '', /which the Order does not have/);
    assert.ok(status.nextAttemptAt !== undefined);
  });
}

test('what a server offers has room in the status of an Order with a hundred names', async () => {
  const types = ['dns-01', 'http-01', 'dns-persist-01', 'tls-alpn-01', 'dns-01', 'x-1'];
  const many = Array.from({ length: 32 }, (_none, index) =>
    challenge(types[index % types.length] ?? '', index),
  );
  const { status } = await authorizationOf('a.example', many);
  const [authorization] = status.authorizations ?? [];
  assert.ok(authorization?.offered);
  assert.deepEqual(
    authorization.offered.map(({ type }) => type),
    ['http-01', 'dns-01', 'dns-persist-01'],
  );
  const authorizations = Array.from({ length: 100 }, () => authorization);
  const full = toWrite({ ...status, authorizations });
  // etcd takes 1.5 MiB of a request; the request and the certificate of an Order have 320 KiB.
  assert.ok(JSON.stringify(full).length < 1024 * 1024);
});

test('an offer that no solver is for is named', async () => {
  const { status } = await authorizationOf('a.example', [challenge('tls-alpn-01', 1)]);
  assert.deepEqual(
    status.authorizations?.[0]?.offered?.map(({ type }) => type),
    ['tls-alpn-01'],
  );
});

test('an order of more authorizations than an Order has names is none', async () => {
  const order = (count: number): Promise<OrderAfter> =>
    step({ step: 'readOrder' }, '/o', {
      status: 'pending',
      identifiers: [],
      finalize: `${server.origin}/f`,
      authorizations: Array.from({ length: count }, (_none, index) => `${server.origin}/${index}`),
    });
  assert.equal((await order(100)).status.reason, undefined);
  assert.equal((await order(101)).status.reason, 'NoAnswer');
});
