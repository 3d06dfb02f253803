// SPDX-License-Identifier: Apache-2.0
/** The requests of the console for a person who may not read everything. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createLiveRequests, type LiveRequests } from '#console/live-requests.ts';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { until } from '../cluster/until.ts';
import { recordedClient } from '../support/kube/recorded-client.ts';

function initOf(client: Client): Parameters<typeof createLiveRequests>[0] {
  return {
    client,
    clock: () => 0,
    monotonic: () => 0,
    delay: async () => {
      await turn();
    },
    random: (size: number) => new Uint8Array(size),
  };
}

/** Creates the watches for a client that answers so, until the end of the test. */
function liveRequests(
  t: TestContext,
  answer: (request: RequestInit) => unknown,
): { readonly live: LiveRequests; readonly watched: readonly string[] } {
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
  });
  const recorded = recordedClient();
  recorded.answer(answer);
  const watched: string[] = [];
  const client: Client = {
    ...recorded,
    stream: ({ path }) => {
      watched.push(path);
      return Promise.reject(new Error('the watch of this law has no events'));
    },
  };
  return { live: createLiveRequests(initOf(client), stop.signal), watched };
}

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

test('the console watches the other requests for who may not read API discovery', async (t) => {
  const { live, watched } = liveRequests(t, ({ path }) => {
    throw new KubeError({ status: 403, what: `GET ${path}` });
  });
  await live.ready();
  assert.ok(watched.includes(CSRS));
  const failures = live.failures().join('\n');
  for (const plural of ['podcertificaterequests', 'certificaterequests'])
    assert.match(failures, new RegExp(`not known whether ${plural} are served; ClusterRole`));
});

test('a page says which API discovery failed, and shows the other requests', async (t) => {
  let isDown = false;
  const { live, watched } = liveRequests(t, ({ path }) => {
    if (isDown) throw new KubeError({ status: 0, what: `GET ${path}`, cause: new Error('closed') });
    throw new KubeError({ status: 404, what: `GET ${path}` });
  });
  await live.ready();
  assert.ok(watched.includes(CSRS));
  isDown = true;
  await live.ready();
  const failures = live.failures().join('\n');
  const words =
    /certificaterequests: GET \/apis\/cert-manager\.io\/v1: no response from the API server/;
  assert.match(failures, words);
});

test('the first page ends with an error of API discovery, such as an expired token', async (t) => {
  let status = 401;
  const { live } = liveRequests(t, ({ path }) => {
    throw new KubeError({ status, what: `GET ${path}` });
  });
  await assert.rejects(live.ready(), /401/);
  status = 404;
  await live.ready();
  assert.doesNotMatch(live.failures().join(), /401/);
});

test('a kind is watched once, also if a page ended while it was discovered', async (t) => {
  let answerLate = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    answerLate = resolve;
  });
  let isDown = true;
  const { live } = liveRequests(t, async ({ path }) => {
    if (path.startsWith('/apis/cert-manager.io')) {
      await late;
      return { resources: [{ name: 'certificaterequests' }] };
    }
    throw new KubeError({ status: isDown ? 503 : 404, what: `GET ${path}` });
  });
  await assert.rejects(live.ready(), /503/);
  isDown = false;
  const second = live.ready();
  answerLate();
  await second;
  assert.equal(live.failures().filter((each) => each.startsWith('certificaterequests')).length, 1);
});

test('an open page discovers again by itself what failed, and shows those requests', async (t) => {
  const { signal } = new AbortController();
  let status = 404;
  const { live, watched } = liveRequests(t, ({ path }) => {
    if (status !== 200) throw new KubeError({ status, what: `GET ${path}` });
    return { resources: [{ name: 'podcertificaterequests' }, { name: 'certificaterequests' }] };
  });
  await live.ready();
  live.subscribe(() => undefined, signal);
  status = 503;
  await live.ready();
  status = 200;
  for (const plural of ['podcertificaterequests', 'certificaterequests'])
    await until(plural, 10_000, () => watched.some((path) => path.endsWith(`/${plural}`)));
  assert.doesNotMatch(live.failures().join(), /503/);
});

test('a failed discovery is repeated only while a page is open', async (t) => {
  const page = new AbortController();
  let calls = 0;
  const { live } = liveRequests(t, ({ path }) => {
    calls += 1;
    throw new KubeError({ status: 403, what: `GET ${path}` });
  });
  const countOf = async (turns: number): Promise<number> => {
    const before = calls;
    for (let left = turns; left > 0; left -= 1) await turn();
    return calls - before;
  };
  await live.ready();
  assert.equal(await countOf(20), 0);
  live.subscribe(() => undefined, page.signal);
  assert.ok((await countOf(20)) > 4);
  page.abort();
  await countOf(3);
  assert.equal(await countOf(20), 0);
});

test('a page discovers again the kinds of requests that an earlier page could not', async (t) => {
  let isAllowed = false;
  const { live, watched } = liveRequests(t, ({ path }) => {
    if (!isAllowed) throw new KubeError({ status: 403, what: `GET ${path}` });
    return { resources: [{ name: 'podcertificaterequests' }, { name: 'certificaterequests' }] };
  });
  await live.ready();
  isAllowed = true;
  await live.ready();
  await live.ready();
  assert.deepEqual(
    live.failures().filter((each) => each.includes('not known')),
    [],
  );
  const kinds = ['certificatesigningrequests', 'podcertificaterequests', 'certificaterequests'];
  for (const kind of kinds)
    assert.equal(watched.filter((path) => path.endsWith(`/${kind}`)).length, 1, kind);
});
