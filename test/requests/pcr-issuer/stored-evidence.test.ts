// SPDX-License-Identifier: Apache-2.0
/** Denials over the names of Services, which the watch may not have yet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodEvidence } from '#requests/pcr-issuer/evidence/evidence.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { pcrStage } from '../../support/requests/issuance-stage.ts';

const known = { resourceVersion: '1', creationTimestamp: '2026-11-21T06:00:00Z' };
const BEHIND_WEB = { allow: "'web' in services" };

/** The pod of the request, behind these Services. */
function evidence(...services: readonly string[]): PodEvidence {
  const { podName, podUID, nodeName, serviceAccountName } = podRequest().spec;
  const metadata = { namespace: 'team-a', name: podName, uid: podUID, labels: { app: 'web' } };
  return {
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      spec: { nodeName, serviceAccountName },
      metadata: { ...metadata, ...known },
    },
    services: services.map((name) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'team-a', name, uid: name, ...known },
      spec: { type: 'ClusterIP', clusterIP: '10.0.0.1', selector: { app: 'web' } },
    })),
  };
}

test('a pod is not denied for a Service that only the watch does not have yet', async () => {
  const late = { evidence: evidence('metrics'), stored: evidence('metrics', 'web') };
  assert.equal((await pcrStage({}, { ...late, ...BEHIND_WEB }).handle()).outcome, 'issued');
});

test('a pod is denied by the Services that are stored', async () => {
  const none = { evidence: evidence('metrics'), stored: evidence('metrics') };
  assert.equal((await pcrStage({}, { ...none, ...BEHIND_WEB }).handle()).outcome, 'denied');
});
