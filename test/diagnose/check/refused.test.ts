// SPDX-License-Identifier: Apache-2.0
/** `countersign check` sees requests that are refused, and revocations that no CRL lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#api/object/pod.ts';
import type { Condition } from '#api/request/conditions.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import type { PodFacts } from '#diagnose/check/facts.ts';
import type { Finding } from '#diagnose/check/finding.ts';
import { revocationEffect } from '#operations/pods/revocation-effect.ts';
import { HOUR, MINUTE, at, state } from '../../operations/signer-states.ts';
import { podRequest } from '../../support/requests/pod-certificate-request.ts';
import { findingsOf, installed, lease, signersOf } from './well.ts';

const SIGNER = 'example.com/workload';

function pod(name: string, phase: string, age: number): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'team-a',
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: at(-age),
    },
    spec: {
      nodeName: 'node-1',
      volumes: [
        {
          name: 'identity',
          projected: {
            sources: [{ podCertificate: { signerName: SIGNER, keyType: 'ED25519' } }],
          },
        },
      ],
    },
    status: { phase, startTime: at(-age) },
  } as never;
}

function request(of: string, type: string, age: number): PodCertificateRequest {
  const condition = { type, status: 'True', reason: 'NotAllowed', message: 'allow is false' };
  const made = podRequest({ podUID: of }, { conditions: [condition as Condition] });
  const metadata = { ...made.metadata, name: `${of}-${age}`, creationTimestamp: at(-age) };
  return { ...made, metadata };
}

function found(id: Finding['id'], pods: Partial<PodFacts>): readonly Finding[] {
  assert.ok('value' in installed.pods);
  return findingsOf(id, {
    installed: {
      pods: { value: { ...installed.pods.value, ...pods } },
      signers: { value: signersOf(state({ spec: { profile: WITH_CRL } })) },
    },
  });
}

const { profile } = state().signer.spec;
const WITH_CRL = {
  ...profile,
  crl: { urls: ['http://crl.example.com/{authority}.crl'], validity: '24h' },
};

test('the refusal of a pod is final, unless its controller may be replacing it', () => {
  const bare = pod('web', 'Pending', HOUR);
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r' };
  const ownerReferences = [{ ...owner, controller: true }];
  const owned = { ...bare, metadata: { ...bare.metadata, ownerReferences } };
  for (const [mounting, isFinal] of [
    [bare, true],
    [owned, undefined],
  ] as const) {
    const requests = [request('web', 'Denied', MINUTE)];
    const [is] = found('requests-granted', { mounting: [mounting], requests });
    assert.deepEqual([is?.severity, is?.isFinal], ['error', isFinal]);
  }
});

for (const type of ['Denied', 'Failed']) {
  test(`a pod whose request is ${type} is an error with the cause`, () => {
    const [is, ...more] = found('requests-granted', {
      mounting: [pod('web', 'Pending', 3 * MINUTE), pod('api', 'Pending', 3 * MINUTE)],
      requests: [request('web', type, 3 * MINUTE), request('api', type, 2 * MINUTE)],
    });
    assert.deepEqual(more, []);
    assert.deepEqual([is?.severity, is?.isFinal], ['error', true]);
    assert.match(is?.why ?? '', /^2 pods \(team-a\/api, team-a\/web\): .* and they do not start/);
    assert.ok(is?.why.includes(type) === true && is.why.endsWith('NotAllowed: allow is false'));
    assert.equal(is.remediation, 'countersign explain pod/web -n team-a');
  });
}

test('of a running pod whose request is denied, no certificate is renewed', () => {
  const [is] = found('requests-granted', {
    mounting: [pod('web', 'Running', HOUR)],
    requests: [request('web', 'Issued', 12 * MINUTE), request('web', 'Denied', MINUTE)],
  });
  assert.equal(is?.severity, 'error');
  assert.match(is.why, /a certificate that they have is not renewed/);
});

test('a request that was denied before an issued one is no finding', () => {
  const [is] = found('requests-granted', {
    mounting: [pod('web', 'Running', HOUR)],
    requests: [request('web', 'Denied', 12 * MINUTE), request('web', 'Issued', MINUTE)],
  });
  assert.equal(is?.severity, 'ok');
});

test('of an old pod without a request, one may have been refused and deleted', () => {
  const [old] = found('pods-requested', { mounting: [pod('web', 'Pending', 20 * MINUTE)] });
  assert.match(old?.why ?? '', /or it was denied or failed, and Kubernetes deleted it/);
  const [young] = found('pods-requested', { mounting: [pod('web', 'Pending', 3 * MINUTE)] });
  assert.match(young?.why ?? '', /their kubelets have requested no certificate/);
});

function revocation(listed: 'True' | 'False' | undefined, more: object = {}): Revocation {
  const condition = { type: 'Listed', status: listed, reason: 'AuthorityUnknown', message: 'why' };
  return {
    apiVersion: 'countersign.dev/v1alpha1',
    kind: 'Revocation',
    metadata: { name: 'stolen', uid: 'x', resourceVersion: '1', creationTimestamp: at(-HOUR) },
    spec: {
      signerName: SIGNER,
      reason: 'keyCompromise',
      certificates: [{ serial: 'ab', notAfter: at(HOUR) }],
    },
    status: listed === undefined ? {} : { conditions: [condition as Condition] },
    ...more,
  } as never;
}

test('a Revocation that no CRL lists is an error with its cause', () => {
  const [is] = found('revocations-listed', { revocations: [revocation('False')] });
  assert.deepEqual([is?.severity, is?.subject], ['error', 'revocation/stolen']);
  assert.match(is?.why ?? '', /verifiers accept the missing ones: why$/);
});

test('a Revocation without the condition is an error once it is overdue', () => {
  const [late] = found('revocations-listed', { revocations: [revocation(undefined)] });
  assert.equal(late?.severity, 'error');
  const metadata = { ...revocation(undefined).metadata, creationTimestamp: at(-MINUTE) };
  const young = revocation(undefined, { metadata });
  assert.equal(found('revocations-listed', { revocations: [young] })[0]?.severity, 'ok');
});

test('a Revocation on a CRL, or with expired certificates alone, is no finding', () => {
  const spec = {
    ...revocation('False').spec,
    certificates: [{ serial: 'ab', notAfter: at(-HOUR) }],
  };
  const revocations = [revocation('True'), revocation('False', { spec })];
  assert.equal(found('revocations-listed', { revocations })[0]?.severity, 'ok');
});

test('who rejects a revoked leaf depends on whether a CRL lists it', () => {
  assert.match(revocationEffect(revocation('True')), /verifiers that check CRLs reject it/);
  for (const listed of ['False', undefined] as const) {
    assert.match(revocationEffect(revocation(listed)), /verifiers accept it/);
  }
});

test('a CRL that authority cannot sign is an error of crls-signed alone', () => {
  const fault = { reason: 'CrlNotSigned', message: 'its key', stops: false, signers: ['workload'] };
  const text = JSON.stringify({ checked: '', namespaced: false, faults: [fault] });
  const leases = {
    value: [lease('authority', { annotations: { 'countersign.dev/serving': text } })],
  };
  const [is] = findingsOf('crls-signed', { installed: { leases } });
  assert.deepEqual([is?.severity, is?.subject], ['error', 'clustersigner/workload']);
  const others = findingsOf('components-report-no-faults', { installed: { leases } });
  assert.deepEqual(
    others.map(({ severity }) => severity),
    ['ok'],
  );
});
