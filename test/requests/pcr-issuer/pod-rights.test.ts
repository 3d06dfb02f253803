// SPDX-License-Identifier: Apache-2.0
/**
 * Each right on pods and Services: without it no leaf with their names is issued, and the reason
 * says which is missing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { Service } from '#api/object/service.ts';
import { createConfirm, readPod } from '#requests/pcr-issuer/evidence/confirm.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { toOutcome } from '#requests/loop/error-outcome.ts';
import { recordedClient, type RecordedClient } from '../../support/kube/recorded-client.ts';

const stored = { resourceVersion: '1', creationTimestamp: '2026-11-21T06:00:00Z' };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  spec: {},
  metadata: { ...stored, namespace: 'team-a', name: 'web-0', uid: 'pod', labels: { app: 'web' } },
};
const service: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  spec: { selector: { app: 'web' } },
  metadata: { ...stored, namespace: 'team-a', name: 'web', uid: 'service' },
};

/** An API server that does not let us get objects of this kind. */
function without(plural: string): RecordedClient {
  const client = recordedClient();
  client.answer(({ path }) => {
    if (!path.includes(`/${plural}/`)) return path.includes('/pods/') ? pod : service;
    const message = `User "countersign-pcr-issuer" cannot get resource "${plural}"`;
    const body = { kind: 'Status', reason: 'Forbidden', message };
    throw new KubeError({ status: 403, method: 'GET', path, body } as never);
  });
  return client;
}

const proof = { pod, services: [service], labels: [], hasAddress: false };

for (const [right, ask] of [
  ['pods', () => readPod(without('pods'), { namespace: 'team-a', name: 'web-0' }, 'etcd')],
  ['pods', () => createConfirm(without('pods'))(proof)],
  ['services', () => createConfirm(without('services'))(proof)],
] as const) {
  test(`without get on ${right} the request waits, and the Event names the permission`, async () => {
    const error = await ask().then(
      () => assert.fail('it was not refused'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof KubeError);
    const { outcome, reason, event } = toOutcome(error, 'pcr-issuer', 0);
    assert.deepEqual([outcome, reason, event?.type], ['waiting', 'MissingPermissions', 'Warning']);
    assert.match(event?.note ?? '', new RegExp(`countersign-pcr-issuer .*cannot get .*"${right}"`));
  });
}
