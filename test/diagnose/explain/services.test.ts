// SPDX-License-Identifier: Apache-2.0
/** What `countersign explain` says of a pod whose names Services prove. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { Service } from '#api/object/service.ts';
import { explainPodRequest } from '#diagnose/explain/pods/pod-certificate-request.ts';
import type { SignerView } from '#diagnose/explain/signer-view.ts';
import { state } from '../../operations/signer-states.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

const view: SignerView = {
  signerName: 'example.com/workload',
  signer: state({ spec: { pods: { allow: 'true', services: {} } } }).signer,
  unusable: undefined,
};
const { podName, podUID, nodeName, serviceAccountName } = podRequest().spec;
const stored = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  spec: { nodeName, serviceAccountName },
  metadata: { ...stored, namespace: 'team-a', name: podName, uid: podUID, labels: { app: 'web' } },
};
const web: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  spec: { selector: { app: 'web' } },
  metadata: { ...stored, namespace: 'team-a', name: 'web', uid: 'u' },
};

test('a pod that no Service selects waits for one, in the words of its Event', () => {
  const is = explainPodRequest(podRequest(), view, { pod, services: [] });
  assert.equal(is.state, 'WaitingForService');
  assert.match(is.summary, /^ServiceDoesNotSelectPod: no Service of namespace team-a selects/);
  assert.match(is.remediation.join('\n'), /kubectl get services -n team-a/);
});

test('a pod that is gone has no names to prove', () => {
  const is = explainPodRequest(podRequest(), view, { pod: undefined, services: [] });
  assert.equal(is.state, 'WaitingForService');
  assert.match(is.summary, /^PodNotFound: /);
});

test('a pod whose names are proven waits for pcr-issuer', () => {
  const is = explainPodRequest(podRequest(), view, { pod, services: [web] });
  assert.equal(is.state, 'WaitingForComponent');
  assert.match(is.summary, /within seconds$/);
});

test('whoever may not list Services is told that nobody could look', () => {
  const is = explainPodRequest(podRequest(), view, 'services is forbidden');
  assert.equal(is.state, 'WaitingForComponent');
  assert.match(is.summary, /could not be looked at: services is forbidden$/);
});
