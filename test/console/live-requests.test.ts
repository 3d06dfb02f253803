// SPDX-License-Identifier: Apache-2.0
/** The requests of the console for a person who may not read everything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createLiveRequests } from '#console/live-requests.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
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

test('the console watches the other requests for who may not read API discovery', async (t) => {
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
  });
  const recorded = recordedClient();
  recorded.answer(({ path }) => {
    throw new KubeError({ status: 403, what: `GET ${path}` });
  });
  const watched: string[] = [];
  const client: Client = {
    ...recorded,
    stream: ({ path }) => {
      watched.push(path);
      return Promise.reject(new Error('the watch of this law has no events'));
    },
  };
  const live = createLiveRequests(initOf(client), stop.signal);
  await live.ready();
  assert.ok(watched.includes('/apis/certificates.k8s.io/v1/certificatesigningrequests'));
  const failures = live.failures().join('\n');
  for (const plural of ['podcertificaterequests', 'certificaterequests'])
    assert.match(failures, new RegExp(`not known whether ${plural} are served; ClusterRole`));
});

test('a page discovers again the kinds of requests that an earlier page could not', async (t) => {
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
  });
  const recorded = recordedClient();
  let isAllowed = false;
  recorded.answer(({ path }) => {
    if (!isAllowed) throw new KubeError({ status: 403, what: `GET ${path}` });
    const resources = [{ name: 'podcertificaterequests' }, { name: 'certificaterequests' }];
    return { resources };
  });
  const watched: string[] = [];
  const client: Client = {
    ...recorded,
    stream: ({ path }) => {
      watched.push(path);
      return Promise.reject(new Error('the watch of this law has no events'));
    },
  };
  const live = createLiveRequests(initOf(client), stop.signal);
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
