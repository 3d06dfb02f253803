// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { reconcileAll, type PassReport } from '#kube/apply/reconcile-all.ts';
import type { ObjectWriter } from '#kube/apply/writer.ts';

const object = (apiVersion: string, kind: string, more: object = {}): ManagedObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', namespace: 'n' },
  ...more,
});
const DEPLOYMENT = object('apps/v1', 'Deployment', { spec: { replicas: 1 } });
const SERVICE = object('v1', 'Service', { spec: { type: 'ClusterIP' } });
const WEBHOOK = object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {
  webhooks: [{ name: 'a' }],
});
const ROLLED_OUT = {
  observedGeneration: 1,
  replicas: 1,
  updatedReplicas: 1,
  availableReplicas: 1,
  conditions: [{ type: 'Available', status: 'True' }],
};
const OLD_PODS = { ...ROLLED_OUT, updatedReplicas: 0 };
const NO_PODS = { observedGeneration: 1 };

interface Cluster {
  /** Of the Deployment. */
  readonly status: object;
  readonly installing?: boolean;
  readonly there?: readonly ManagedObject[];
}

/** One pass over the three. @returns the titles of what was written, and the report */
async function passed({
  status,
  installing = false,
  there = [],
}: Cluster): Promise<readonly [written: readonly string[], report: PassReport]> {
  const written: string[] = [];
  const live = new Map(there.map((each) => [titleOf(each), each]));
  const writer: ObjectWriter = {
    read: (wanted) => Promise.resolve(live.get(titleOf(wanted))),
    apply: (wanted) => {
      written.push(wanted.kind);
      return Promise.resolve(wanted.kind === 'Deployment' ? { ...wanted, status } : wanted);
    },
    patch: () => Promise.reject(new Error('nothing is foreign')),
    remove: () => Promise.reject(new Error('nothing is superfluous')),
  };
  const report = await reconcileAll({
    objects: [WEBHOOK, SERVICE, DEPLOYMENT],
    removable: new Set(),
    owner: { apiVersion: 'v1', kind: 'K', name: 'o', uid: 'u', label: 'l' },
    writer,
    watches: { get: () => undefined, written: () => undefined, all: () => [] },
    accepted: new Set<string>(),
    installing,
    heldUntil: () => undefined,
    signal: new AbortController().signal,
  });
  return [written, report];
}

test('a webhook is registered last, when every Deployment is available', async () => {
  const [written] = await passed({ status: ROLLED_OUT, installing: true });
  assert.deepEqual(written, ['Deployment', 'Service', 'ValidatingWebhookConfiguration']);
});

test('a webhook waits for pods that answer, in a complete installation as well', async () => {
  for (const installing of [true, false]) {
    const [written, { waiting }] = await passed({ status: NO_PODS, installing });
    assert.ok(!written.includes('ValidatingWebhookConfiguration'));
    assert.ok(waiting.includes('ValidatingWebhookConfiguration n/x'));
  }
});

test('a webhook that went missing comes back at once while old pods answer', async () => {
  const [written] = await passed({ status: OLD_PODS });
  assert.ok(written.includes('ValidatingWebhookConfiguration'));
});

test('a webhook is not changed while a new version rolls out', async () => {
  const there = [{ ...WEBHOOK, webhooks: [{ name: 'before' }] }];
  const [during] = await passed({ status: OLD_PODS, installing: true, there });
  assert.ok(!during.includes('ValidatingWebhookConfiguration'));
  const [after] = await passed({ status: ROLLED_OUT, installing: true, there });
  assert.ok(after.includes('ValidatingWebhookConfiguration'));
});
