// SPDX-License-Identifier: Apache-2.0
/** The loop of an operator, from its first list to the Roles of a former spec. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { COUNTERSIGNS } from '#api/operator/countersign.ts';
import type { InstallationObject } from '#api/operator/installation.ts';
import type { Component } from '#component/contract.ts';
import { createInstaller } from '#install/reconcile/installer.ts';
import type { DesiredInstallation } from '#install/reconcile/desired.ts';
import type { Client, RequestInit } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { resource } from '#kube/resource/resource.ts';
import { createConcurrencyLimiter } from '#kube/workqueue/concurrency-limiter.ts';
import { createDelayingQueue } from '#kube/workqueue/delaying-queue.ts';
import { createQueue } from '#kube/workqueue/queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { until } from '../../cluster/until.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { fakeTime } from '../../support/kube/fake-time.ts';
import { memoryApi, type MemoryApi, type Thing } from '../../support/kube/memory-api.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const KIND = resource(COUNTERSIGNS);
const CLUSTER = KIND.object({ name: 'cluster' });
const WAIT_MS = 10_000;

interface TeamInstallation extends InstallationObject {
  readonly spec: { readonly version: string; readonly namespaces: readonly string[] };
}

/** The grants of one component in each namespace. */
function desiredOf({ spec }: TeamInstallation): DesiredInstallation {
  const objects = ['countersign-system', ...spec.namespaces].flatMap(grantsIn);
  return {
    objects,
    removable: new Set(objects.map(titleOf)),
    watched: objects,
    rules: [],
    minKubernetesMinor: 36,
    oldest: false,
    unknownArguments: [],
  };
}

function grantsIn(namespace: string): readonly ManagedObject[] {
  const metadata = { name: 'countersign-signer', namespace };
  const rules = [
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['ca'], verbs: ['get'] },
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
  return [
    { apiVersion: RBAC, kind: 'Role', metadata, rules },
    { apiVersion: RBAC, kind: 'RoleBinding', metadata, roleRef, subjects: [] },
  ];
}

/** Adds server-side apply and deletion to the API in memory. @param isDenied - by its path */
function withWrites(api: MemoryApi, isDenied: (path: string) => boolean): Client {
  const answer = ({ method, path, body }: RequestInit): unknown => {
    if (path === '/version') return { major: '1', minor: '36' };
    if (method === 'GET') return undefined;
    if (isDenied(path)) throw new KubeError({ status: 403, what: method, body: {} });
    if (method === 'DELETE') {
      api.remove(path);
      return {};
    }
    const sent = body as Thing;
    const at = path.replace(/\/status$/, '');
    const before = api.get(at);
    const metadata = { ...before?.metadata, ...sent.metadata, uid: before?.metadata.uid ?? path };
    return api.put(at, { ...before, ...sent, metadata });
  };
  const request = async <T>(init: RequestInit): Promise<T> =>
    (answer(init) as T | undefined) ?? (await api.client.request<T>(init));
  return { ...api.client, request };
}

interface World {
  readonly install: (...namespaces: readonly string[]) => void;
  /** Titles of the grants in a namespace. */
  readonly grantsOf: (namespace: string) => readonly string[];
  /** The condition Degraded, with its message. */
  readonly degraded: () => string;
  readonly denied: Set<string>;
}

function started(t: TestContext): World {
  const [api, time, denied] = [memoryApi(), fakeTime(), new Set<string>()];
  const zeros = (size: number): Uint8Array => new Uint8Array(size);
  const counts = { added: () => undefined, depth: () => undefined, waited: () => undefined };
  const component: Component = recordedComponent({
    client: withWrites(api, (path) => [...denied].some((each) => path.includes(`/${each}/`))),
    clock: time.clock,
    delay: time.delay,
    queue: createDelayingQueue(createQueue(time.clock, counts, zeros), time.clock, time.startTimer),
    limiter: createRateLimiter({ firstMs: 1_000, maxMs: 30_000, random: zeros }),
    concurrency: createConcurrencyLimiter({ ...time, random: zeros }),
  });
  const abort = new AbortController();
  const installs = {
    kind: 'Countersign',
    resource: KIND,
    label: 'countersign',
    fieldManager: 'countersign-operator',
    account: 'countersign-operator',
    remedy: '',
  };
  const installer = createInstaller<TeamInstallation>({
    component,
    installs,
    permissions: () => [],
    desiredOf,
    version: '0.1.0',
  });
  const running = installer.run(abort.signal);
  t.after(() => {
    abort.abort();
    return running;
  });
  return {
    denied,
    install: (...namespaces) => {
      const before = api.get(CLUSTER);
      api.put(CLUSTER, {
        apiVersion: 'operator.countersign.dev/v1alpha1',
        kind: 'Countersign',
        metadata: {
          name: 'cluster',
          uid: 'ours',
          resourceVersion: '1',
          creationTimestamp: '2026-01-01T00:00:00Z',
        },
        spec: { version: '0.1.0', namespaces },
        status: before?.status,
      });
    },
    grantsOf: (namespace) =>
      grantsIn(namespace)
        .filter((each) => api.get(ruleOf(each).resource.object(each.metadata)) !== undefined)
        .map(titleOf),
    degraded: () => {
      const { status } = (api.get(CLUSTER) ?? {}) as Partial<InstallationObject>;
      const found = status?.conditions?.find(({ type }) => type === 'Degraded');
      return `${found?.status ?? ''}: ${found?.message ?? ''}`;
    },
  };
}

const BOTH = ['Role team-a/countersign-signer', 'RoleBinding team-a/countersign-signer'];

test('an object that arrives before the end of the first list is installed', async (t) => {
  const { install, grantsOf } = started(t);
  install('team-a');
  await until('its grants are there', WAIT_MS, () => grantsOf('team-a').length === BOTH.length);
});

test('grants in a namespace that the spec no longer names are removed', async (t) => {
  const { install, grantsOf, degraded } = started(t);
  install('team-a', 'team-b');
  await until('all are there', WAIT_MS, () => degraded().startsWith('False'));
  assert.deepEqual(grantsOf('team-a'), BOTH);
  install('team-b');
  await until('they are gone', WAIT_MS, () => grantsOf('team-a').length === 0);
  assert.equal(grantsOf('team-b').length, 2);
});

test('a former grant that the operator may not remove makes it degraded', async (t) => {
  const { install, grantsOf, degraded, denied } = started(t);
  install('team-a');
  await until('all are there', WAIT_MS, () => degraded().startsWith('False'));
  denied.add('team-a');
  install();
  await until('it is named', WAIT_MS, () => /^True: Role\S* team-a/.test(degraded()));
  assert.deepEqual(grantsOf('team-a'), BOTH);
});
