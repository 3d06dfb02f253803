// SPDX-License-Identifier: Apache-2.0
/**
 * One look at a request of a namespace's Signer whose expressions have no time left, or take too
 * long.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestKind } from '#requests/loop/metrics.ts';
import { reconcile, type Reconciler } from '#requests/loop/reconcile.ts';
import { requestKey } from '#requests/loop/request-key.ts';
import { createRequestState } from '#requests/loop/request-state.ts';
import { ownerOf, requireBudget, spending } from '#component/signers/deadline.ts';
import { EvaluationTimeout, EvaluationDeferred } from '#component/signers/evaluation-errors.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { startFakeThread, type FakeThread } from '../../support/requests/fake-thread.ts';
import { request, type Request } from './controlled.ts';

/** A look at one request of this kind, of a Signer in this namespace. */
function stage(kind: RequestKind, namespace: string, handle: () => Promise<never>) {
  const component = recordedComponent();
  const { clock, random } = component;
  const signer = teamSigner({ namespace });
  const queue = { add: () => undefined, addAt: () => undefined };
  const one = request('r', 1);
  const at = {
    init: {
      component,
      kind,
      handle,
      signers: { serving: () => signer },
      fairnessKeyOf: () => ({ distinguishers: [], deadline: undefined }),
      regarding: () => ({ regarding: { apiVersion: 'v1', kind, name: 'r' } }),
    },
    state: createRequestState({ clock, random, queue }),
    requests: { peek: () => one, load: () => Promise.resolve(one) },
    takeover: { claims: () => false, settle: () => undefined },
  } as unknown as Reconciler<Request, typeof signer>;
  const look = () => reconcile(at, requestKey(signer.spec.signerName, 'r'));
  return { component, signer, look };
}

/** Uses the thread until the namespace of the signer has overdrawn its budget by seconds. */
function overdraw(signer: Parameters<typeof ownerOf>[0], thread: FakeThread): void {
  const owner = ownerOf(signer);
  spending(owner, 'spec.pods.allow', () => {
    thread.work(600);
  });
  assert.throws(() => {
    requireBudget(owner);
  }, EvaluationDeferred);
}

test('a request does not begin while its Signer’s namespace has spent its budget', async (t) => {
  const thread = await startFakeThread(t);
  let begun = 0;
  const { component, signer, look } = stage('PodCertificateRequest', 'team-spent', () => {
    begun += 1;
    return Promise.reject(new Error('nobody may work for it'));
  });
  overdraw(signer, thread);
  const next = await look();
  assert.equal(begun, 0);
  assert.ok(typeof next === 'object' && 'requeueAt' in next && next.requeueAt > component.clock());
});

for (const [kind, isTold] of [
  ['CertificateSigningRequest', false],
  ['PodCertificateRequest', true],
  ['CertificateRequest', true],
] as const) {
  test(`a slow Signer gets ${isTold ? 'an' : 'no'} Event for a ${kind}`, async () => {
    const { component, look } = stage(kind, 'team-slow', () =>
      Promise.reject(new EvaluationTimeout('evaluate', 'spec.requests.rules[0].when')),
    );
    await look();
    const about = component.notes.filter(({ reason }) => reason === 'CelTimeout');
    const signers = about.filter(({ regarding }) => regarding.kind === 'Signer');
    assert.equal(signers.length, isTold ? 1 : 0);
  });
}
