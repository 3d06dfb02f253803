// SPDX-License-Identifier: Apache-2.0
/** Which way the requests of people's commands take to the ledger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLedger } from '#cli/ledger-routes.ts';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';

const ROOT = '/apis/ledger.countersign.dev/v1alpha1';
const RECORDS = `${ROOT}/records`;
const PLACE = { namespace: 'countersign-system', userAgent: 'test' };

/** A client whose streams are answered as its requests are. */
function routed(answer: (init: RequestInit) => unknown): {
  readonly client: Client;
  readonly paths: () => readonly string[];
} {
  const recorded = recordedClient();
  recorded.answer(answer);
  const stream: Client['stream'] = (init) => recorded.request(init);
  const client = withLedger({ ...recorded, stream }, PLACE);
  return {
    client,
    paths: () => recorded.requests.map(({ path }) => path.replace(/^.*\/(?=proxy|certif)/, '')),
  };
}

const notServed = (path: string): unknown => {
  const body = { message: 'the server could not find the requested resource' };
  if (path === RECORDS) throw new KubeError({ status: 404, what: 'GET', body });
  return { metadata: { name: 'ledger-reader-x', uid: 'u' } };
};

for (const way of ['request', 'stream'] as const) {
  test(`where the API is not aggregated, a ${way} is signed and goes to the Service`, async () => {
    const { client, paths } = routed(({ path }) => notServed(path));
    await client[way]({ method: 'GET', path: RECORDS });
    await client[way]({ method: 'GET', path: RECORDS });
    const proxied = `proxy${RECORDS}`;
    const [unsigned, csr] = [`proxy${ROOT}`, 'certificatesigningrequests'];
    assert.deepEqual(paths(), [RECORDS, unsigned, csr, proxied, proxied]);
  });
}

test('where it is aggregated, the API server passes it on, and no object is made', async () => {
  const { client, paths } = routed(() => ({}));
  await client.request({ method: 'GET', path: RECORDS });
  assert.deepEqual(paths(), [RECORDS]);
});

test('an aggregated API that is down, or forbids it, is not gone around', async () => {
  for (const status of [403, 503]) {
    const { client, paths } = routed(() => {
      throw new KubeError({ status, what: 'GET', body: {} });
    });
    await assert.rejects(client.request({ method: 'GET', path: RECORDS }));
    assert.deepEqual(paths(), [RECORDS]);
  }
});

for (const way of ['request', 'stream'] as const) {
  test(`a ${way} that a busy ledger rejects is sent again after the wait, 5 times`, async () => {
    let busy = 5;
    const { client, paths } = routed(() => {
      busy -= 1;
      if (busy >= 0) throw new KubeError({ status: 429, what: 'GET', retryAfter: 0, body: {} });
      return {};
    });
    await client[way]({ method: 'GET', path: RECORDS });
    assert.equal(paths().length, 6);
    busy = 6;
    await assert.rejects(client[way]({ method: 'GET', path: RECORDS }), { status: 429 });
    assert.equal(paths().length, 12);
  });
}
