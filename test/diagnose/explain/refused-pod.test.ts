// SPDX-License-Identifier: Apache-2.0
/**
 * What `countersign explain` says of a pod that the signer refused, and of what it would say now.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Diagnosis } from '#diagnose/explain/explanation.ts';
import { explainPodRequest } from '#diagnose/explain/pods/pod-certificate-request.ts';
import { state } from '../../operations/signer-states.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';

const REFUSED = {
  conditions: [
    {
      ...({ type: 'Denied', status: 'True' } as const),
      reason: 'NotAllowed',
      message: 'spec.pods.allow',
      lastTransitionTime: '2026-01-01T00:10:00Z',
    },
  ],
};

/** Of pod team-a/web-0 with ServiceAccount web. */
function refused(pods: object | undefined): Diagnosis {
  const { signer } = state(pods === undefined ? {} : { spec: { pods } });
  const view = {
    signerName: 'example.com/workload',
    unusable: undefined,
    signer: pods === undefined ? undefined : signer,
  };
  return explainPodRequest(podRequest({}, REFUSED), view);
}

const names = { uris: ["'spiffe://example.com/' + pod.name"] };

test('the expression is shown with the values that it reads, and no others', () => {
  const allow = "pod.namespace.startsWith('prod-') && pod.serviceAccount != 'default'";
  const { rules, state: at, remediation } = refused({ ...names, allow });
  assert.equal(at, 'Denied');
  assert.deepEqual(rules, [
    {
      rule: 'spec.pods.allow',
      outcome: 'deny',
      nearest: true,
      message: `"${allow}" is false: it reads pod.namespace "team-a", pod.serviceAccount "web"`,
    },
  ]);
  assert.match(remediation[0] ?? '', /then delete the pod: its kubelet does not retry$/);
});

test('where the signer allows the pod by now, the pod is to be deleted', () => {
  const { rules, remediation } = refused({ ...names, allow: "pod.namespace.startsWith('team-')" });
  assert.equal(rules, undefined);
  assert.match(
    remediation[0] ?? '',
    /^kubectl delete pod web-0 -n team-a {3}# the signer allows it by now/,
  );
});

test('a key type that the profile still lacks is no longer called allowed by now', () => {
  const { signer } = state({ spec: { pods: { ...names, allow: 'true' } } });
  const profile = { ...signer.spec.profile, keyTypes: ['RSA4096'] as const };
  const view = {
    signerName: 'example.com/workload',
    unusable: undefined,
    signer: { ...signer, spec: { ...signer.spec, profile } },
  };
  const { remediation } = explainPodRequest(podRequest({}, REFUSED), view);
  assert.match(remediation[0] ?? '', /^correct what is named/);
});

for (const [what, pods] of Object.entries({
  'cannot be read': undefined,
  'cannot be compiled': { ...names, allow: 'pod.' },
  'needs what the user may not read': { ...names, allow: 'true', services: {} },
})) {
  test(`of a signer that ${what} nothing is claimed`, () => {
    const { rules, remediation } = refused(pods);
    assert.equal(rules, undefined);
    assert.match(remediation[0] ?? '', /^correct what is named/);
  });
}
