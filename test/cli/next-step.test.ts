// SPDX-License-Identifier: Apache-2.0
/** `check` proposes only commands that work for a user who pastes them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { RequestsSpec } from '#api/signer/cluster-signer.ts';
import type { PodFacts } from '#diagnose/check/facts.ts';
import { nextStep } from '#cli/commands/check/next-step.ts';
import { specOf } from '../ca/policy/request.ts';
import { installed, kubernetes, RELEASE, signersOf } from '../diagnose/check/well.ts';
import { state } from '../operations/signer-states.ts';

const RULE = { name: 'own-name', when: 'true', allow: { commonName: 'self == csr.username' } };

function proposed(requests: RequestsSpec): string {
  const signer = { ...state().signer, spec: specOf(requests) };
  const signers = { value: signersOf({ ...state(), signer }) };
  const facts = { kubernetes, installed: { ...installed, signers }, release: RELEASE };
  return nextStep(facts, { result: 'ok', checks: [] }, 'example.com/own');
}

test('a first certificate is proposed for a signer with rules', () => {
  assert.match(
    proposed({ rules: [RULE] }),
    /^ {2}countersign request --signer example\.com\/people /m,
  );
});

test('no request is proposed where a person has to approve it first', () => {
  for (const requests of [{}, { rules: [] }, { copy: ['commonName'] }] as const)
    assert.doesNotMatch(proposed(requests), /countersign request/);
});

const NO_PODS: PodFacts = {
  mounting: [],
  trusting: [],
  requests: [],
  revocations: [],
  quotas: [],
  warnings: new Map(),
  services: { value: [] },
};

function afterPods(...pods: readonly Pod[]): string {
  const signers = { value: signersOf(state()) };
  const facts = {
    kubernetes,
    installed: { ...installed, signers, pods: { value: { ...NO_PODS, mounting: pods } } },
    release: RELEASE,
  };
  return nextStep(facts, { result: 'ok', checks: [] }, 'countersign.dev/serving');
}

function podOf(name: string, phase: string, signerName = 'example.com/workload'): Pod {
  const sources = [{ podCertificate: { signerName, keyType: 'ED25519' } }];
  return {
    metadata: { name, namespace: 'team-b', uid: name, resourceVersion: '1' },
    spec: { volumes: [{ projected: { sources } }] },
    status: { phase },
  } as unknown as Pod;
}

test('the example pod is proposed until a pod of a signer runs', () => {
  const serving = podOf('approver-1', 'Running', 'countersign.dev/serving');
  for (const pods of [[], [podOf('api', 'Pending')], [serving]])
    assert.match(afterPods(...pods), /^ {2}kubectl apply -f deploy\/examples\/pod\.yaml$/m);
});

test('the certificate of a running pod is shown in place of the example pod', () => {
  const text = afterPods(podOf('api', 'Pending'), podOf('web', 'Running'));
  assert.match(text, /^ {2}countersign inspect pod\/web -n team-b$/m);
  assert.doesNotMatch(text, /pod\.yaml/);
});
