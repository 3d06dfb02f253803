// SPDX-License-Identifier: Apache-2.0
/**
 * What proven names cost the API server: nothing where no signer asks for them, one watch of
 * Services where one does.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Pod } from '#api/object/pod.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { createPodReader, type PodReader } from '#requests/pcr-issuer/evidence/pod-reader.ts';
import { SignerError } from '#base/errors.ts';
import { queryText } from '#kube/client/request.ts';
import { until } from '../../cluster/until.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { memoryApi, type Thing } from '../../support/kube/memory-api.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const POD = '/api/v1/namespaces/team-a/pods/web-0';
const SERVICES = '/api/v1/services';

interface Stage {
  readonly reader: PodReader;
  readonly component: RecordedComponent;
  readonly put: (path: string, thing: Thing) => void;
  /** Calls so far, as `GET path` and `WATCH path`. */
  readonly calls: readonly string[];
  /** Paths of watches that were not ended. */
  readonly watched: () => readonly string[];
}

/** @param pods - what is in the cluster */
function stage(...pods: readonly Thing[]): Stage {
  const { client, put } = memoryApi();
  for (const pod of pods) put(POD, pod);
  const calls: string[] = [];
  const watches: { readonly path: string; readonly signal: AbortSignal | undefined }[] = [];
  const component = recordedComponent({
    client: {
      ...client,
      request: (init) => {
        calls.push(`${init.method} ${init.path}${queryText(init.query)}`);
        return client.request(init);
      },
      stream: (init) => {
        calls.push(`WATCH ${init.path}`);
        watches.push({ path: init.path, signal: init.signal });
        return client.stream(init);
      },
    },
  });
  const reader = createPodReader(component, () => ({
    regarding: { apiVersion: 'v1', kind: 'Pod', name: 'web-0' },
  }));
  return {
    reader,
    calls,
    component,
    put,
    watched: () => watches.filter(({ signal }) => signal?.aborted !== true).map(({ path }) => path),
  };
}

/** What is asked for while a request is answered. The pod is not there, so there is no leaf. */
async function answered({ reader }: Stage, signer: ClusterSigner): Promise<void> {
  await reader.gather(podRequest(), signer);
}

const WAITS = new SignerError({
  code: 'SERVICE_NOT_FOUND',
  disposition: 'wait',
  message: 'gone',
});
const TOO_MANY = new SignerError({
  code: 'NAME_INVALID',
  disposition: 'wait',
  message: '33 Services',
});
const NAMING = workload({ pods: { allow: 'true', services: {} } });

test('a signer that asks for nothing of a pod costs no call and no watch', async () => {
  const made = stage();
  made.reader.serve([workload()]);
  // A watch that begins does so in this turn.
  await turn();
  await answered(made, workload());
  assert.deepEqual(made.calls, []);
  assert.deepEqual(made.reader.notReady(), []);
  await made.reader.stop();
});

for (const [what, pods] of [
  ['labels', { labels: ['app'] }],
  ['addresses', { ipAddresses: ['pod.ip'] }],
] as const) {
  test(`a signer that asks for ${what} alone has the pod read, and no Service`, async () => {
    const made = stage();
    const signer = workload({ pods: { allow: 'true', uris: ["'spiffe://a/b'"], ...pods } });
    made.reader.serve([signer]);
    await turn();
    await answered(made, signer);
    assert.deepEqual(made.calls, [`GET ${POD}`]);
    await made.reader.stop();
  });
}

/** The pod of the request, bound to this node. */
function podOn(nodeName: string): Thing {
  const { podUID: uid, serviceAccountName } = podRequest().spec;
  const stored = { resourceVersion: '1', creationTimestamp: '2026-11-21T06:00:00Z' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    spec: { nodeName, serviceAccountName },
    metadata: { namespace: 'team-a', name: 'web-0', uid, ...stored },
  };
}

for (const [what, pods, reads] of [
  ['is there', [podOn(podRequest().spec.nodeName)], ['cache']],
  ['is not there yet', [], ['cache', 'etcd']],
  ['is not bound to the node yet', [podOn('')], ['cache', 'etcd']],
] as const) {
  test(`a pod that ${what} in the server’s cache is read from ${reads.join(', then ')}`, async () => {
    const made = stage(...pods);
    await answered(made, NAMING);
    const paths = { cache: `GET ${POD}?resourceVersion=0`, etcd: `GET ${POD}` };
    assert.deepEqual(
      made.calls,
      reads.map((from) => paths[from]),
    );
    await made.reader.stop();
  });
}

test('by a label a request can be denied indefinitely: its pod is read as it is stored', async () => {
  const made = stage(podOn(podRequest().spec.nodeName));
  await answered(made, workload({ pods: { allow: 'true', services: {}, labels: ['app'] } }));
  assert.deepEqual(made.calls, [`GET ${POD}`]);
  await made.reader.stop();
});

test('a final decision reads the pod and the Services of its namespace as stored', async () => {
  const client = recordedClient();
  const [nodeName, reads] = [podRequest().spec.nodeName, new Map<string, number | undefined>()];
  const metadata = { namespace: 'team-a', name: 'web', uid: 'web', annotations: { long: 'text' } };
  client.answer(({ path, query, maxBytes }) => {
    reads.set(`${path}${queryText(query)}`, maxBytes);
    if (path === POD) return podOn(nodeName);
    const items = [{ metadata, spec: { selector: { app: 'web' } } }];
    return { apiVersion: 'v1', kind: 'ServiceList', metadata: {}, items };
  });
  const component = recordedComponent({ client });
  const reader = createPodReader(component, () => ({
    regarding: { apiVersion: 'v1', kind: 'Pod', name: 'web-0' },
  }));
  const [found] = await Promise.all([1, 2, 3].map(() => reader.gatherStored(podRequest())));
  assert.equal(found?.pod?.spec.nodeName, nodeName);
  const [service, ...more] = found.services ?? [];
  assert.deepEqual([service?.kind, service?.spec?.selector, more], ['Service', { app: 'web' }, []]);
  assert.deepEqual(Object.keys(service?.metadata ?? {}).includes('annotations'), false);
  const list = '/api/v1/namespaces/team-a/services?limit=500';
  assert.deepEqual(Object.fromEntries(reads), { [POD]: undefined, [list]: 8 * 1024 * 1024 });
  const lists = client.requests.filter(({ path }) => path !== POD);
  assert.equal(lists.length, 2, 'calls during a list share the next one');
  await reader.stop();
});

test('signers share one watch of Services, and others make no call for it', async () => {
  const made = stage();
  made.reader.serve([workload(), NAMING, NAMING]);
  await until('Services are listed', 5_000, () =>
    Promise.resolve(made.reader.notReady().length === 0),
  );
  await answered(made, workload());
  assert.deepEqual(made.calls, [`WATCH ${SERVICES}`]);
  await made.reader.stop();
});

test('the watch of Services ends with the last signer that asks for them', async () => {
  const made = stage();
  made.reader.serve([workload(), NAMING]);
  await until('Services are watched', 5_000, () => Promise.resolve(made.watched().length === 1));
  made.reader.serve([workload()]);
  assert.deepEqual(made.watched(), []);
  await made.reader.stop();
});

test('the watch keeps no selector that is too long to name a pod', async () => {
  const made = stage();
  for (const [name, count, value] of [
    ['common', 32, 'a'],
    ['long', 4_000, 'a'],
    ['wide', 32, 'a'.repeat(63)],
  ] as const) {
    const labels = Array.from({ length: count }, (_, at) => [`label-${at}`, value] as const);
    const stored = { resourceVersion: '1', creationTimestamp: '2026-11-21T06:00:00Z' };
    made.put(`/api/v1/namespaces/team-a/services/${name}`, {
      apiVersion: 'v1',
      kind: 'Service',
      spec: { selector: Object.fromEntries(labels) },
      metadata: { namespace: 'team-a', name, uid: name, ...stored },
    });
  }
  made.reader.serve([NAMING]);
  await until('Services are listed', 5_000, () =>
    Promise.resolve(made.reader.notReady().length === 0),
  );
  const { services = [] } = (await made.reader.gather(podRequest(), NAMING)) ?? {};
  const kept = services.map(({ metadata, spec }) => [
    metadata.name,
    Object.keys(spec?.selector ?? {}).length,
  ]);
  assert.deepEqual(Object.fromEntries(kept), { common: 32, long: 0, wide: 0 });
  await made.reader.stop();
});

test('a pod with too many Services waits for a change of them', async () => {
  const { reader } = stage();
  const woken: (readonly string[])[] = [];
  reader.onAnswer((...asked) => woken.push(asked));
  reader.waits(podRequest(), TOO_MANY);
  reader.serve([NAMING]);
  const { name, namespace = '' } = podRequest().metadata;
  await until('the list wakes the request', 5_000, () => Promise.resolve(woken.length > 0));
  assert.deepEqual(woken, [[NAMING.spec.signerName, `${namespace}/${name}`]]);
  await reader.stop();
});

test('the end of a Service watch deletes none; a removed signer gets no series again', async () => {
  const { component, reader, put } = stage();
  const stored = { resourceVersion: '1', creationTimestamp: '2026-11-21T06:00:00Z' };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    spec: { selector: { app: 'web' } },
    metadata: { namespace: 'team-a', name: 'web', uid: 'web', ...stored },
  };
  put(`/api/v1/namespaces/team-a/services/web`, service);
  const listed = (): Promise<unknown> =>
    until('Services are listed', 5_000, () => Promise.resolve(reader.notReady().length === 0));
  reader.serve([NAMING]);
  await listed();
  const pod = { ...podOn(podRequest().spec.nodeName), spec: {} };
  const labelled = { ...pod, metadata: { ...pod.metadata, labels: { app: 'web' } } } as Pod;
  const proof = { pod: labelled, services: [service], labels: [], hasAddress: false };
  reader.delivered(podRequest(), proof, component.clock() + 3_600_000);
  reader.serve([workload()]);
  reader.serve([NAMING]);
  await listed();
  reader.waits(podRequest(), TOO_MANY);
  assert.deepEqual(component.notes, []);
  reader.waits(podRequest(), WAITS);
  assert.equal(component.notes.length, 1);
  const before = component.counted.length;
  reader.serve([]);
  reader.waits(podRequest(), WAITS);
  assert.deepEqual(component.counted.slice(before), []);
  await reader.stop();
});
