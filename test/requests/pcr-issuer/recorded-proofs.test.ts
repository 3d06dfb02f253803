// SPDX-License-Identifier: Apache-2.0
/** What records say of names of Services. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodEvidence } from '#requests/pcr-issuer/evidence/evidence.ts';
import { KeptRecords } from '../../support/ledger/kept-records.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { pcrStage } from '../../support/requests/issuance-stage.ts';

const stored = { resourceVersion: '1', creationTimestamp: '2026-11-21T06:00:00Z' };
const labels = { app: 'web', tier: 'front' };

/** The pod of the request, behind one Service of two. */
function evidence(more: Readonly<Record<string, string>> = {}): PodEvidence {
  const { podName, podUID, nodeName, serviceAccountName } = podRequest().spec;
  const service = (name: string, app: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'team-a', name, uid: name, ...stored },
    spec: { type: 'ClusterIP', clusterIP: '10.0.0.1', selector: { app } },
  });
  return {
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      spec: { nodeName, serviceAccountName },
      metadata: {
        namespace: 'team-a',
        name: podName,
        uid: podUID,
        labels: { ...labels, ...more },
        ...stored,
      },
    },
    services: [service('web', 'web'), service('db', 'db')],
  };
}

async function decisionOf(by: Parameters<typeof pcrStage>[1]) {
  const ledger = new KeptRecords();
  const recorder = ledger.recorder('required', 'pcr-issuer');
  const stage = pcrStage({}, { ...by, recorder });
  assert.equal((await stage.handle()).outcome, 'issued');
  const [{ decision } = assert.fail()] = ledger.of('issued');
  return decision;
}

test('with the flag a record has the Services that proved names, and the pod’s labels', async () => {
  const decision = await decisionOf({ evidence: evidence(), recordsProofs: true });
  assert.deepEqual(decision?.services, ['web']);
  assert.deepEqual(decision.labels, labels);
  assert.equal(decision.rule, 'spec.pods.allow');
});

test('without the flag, or without a Service, a record has none of both', async () => {
  for (const by of [{ evidence: evidence() }, { recordsProofs: true }]) {
    const decision = await decisionOf(by);
    assert.deepEqual(Object.keys(decision ?? {}), ['rule']);
  }
});

test('a record of a pod with too many labels has no labels and no Services', async () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`label-${at}`, 'x']));
  const decision = await decisionOf({ evidence: evidence(many), recordsProofs: true });
  assert.deepEqual(Object.keys(decision ?? {}), ['rule']);
});
