// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grantsNoSystemMasters } from '#conformance/assertions/names.ts';
import type { AssertionResult } from '#conformance/case.ts';
import { isSkipped } from '#conformance/observed-request.ts';
import { createPlanned, type Creation } from '#conformance/runner/requests.ts';
import type { RequestPlan } from '#conformance/runner/plans.ts';
import { KubeError, type KubeErrorInit } from '#kube/client/kube-error.ts';
import type { KubeObject } from '#api/object/object.ts';

const PLAN = { scenario: 'masters', requested: { names: {} } } as unknown as RequestPlan;
const OBJECT = { metadata: { name: 'req', uid: '1' } } as KubeObject;

interface Outcome {
  readonly result: AssertionResult | 'stored';
  readonly waits: readonly number[];
}

/** Creates a request, and answers each POST with the next of `answers`, then with the last. */
async function outcomeOf(
  ...answers: readonly (Partial<KubeErrorInit> | 'stored')[]
): Promise<Outcome> {
  const waits: number[] = [];
  let calls = 0;
  const creation = {
    run: {
      clock: () => 0,
      client: { clockOffset: () => 0 },
      delay: (ms: number) => Promise.resolve(waits.push(ms)),
      timeoutMs: 60_000,
    },
    recorder: { isComplete: true, add: () => undefined, versionsOf: () => [] },
    missing: undefined,
    create: () => {
      const answer = answers[Math.min(calls++, answers.length - 1)];
      if (answer === 'stored') return Promise.resolve(OBJECT);
      return Promise.reject(new KubeError({ status: 500, what: 'POST', ...answer }));
    },
    treat: () => Promise.resolve(0),
  } as unknown as Creation<KubeObject>;
  const observed = (await createPlanned(PLAN, creation)).observed();
  if (isSkipped(observed))
    return { result: { outcome: 'skip', evidence: observed.skipped }, waits };
  if (observed.rejection === undefined) return { result: 'stored', waits };
  return { result: grantsNoSystemMasters(observed, {} as never), waits };
}

const message = (text: string): Pick<KubeErrorInit, 'body'> => ({ body: { message: text } });
const OF = 'podcertificaterequests.certificates.k8s.io';

/** The texts are those of Kubernetes 1.37. */
const untested: Readonly<Record<string, Partial<KubeErrorInit>>> = {
  'an API server that is away': { status: 503 },
  'an API server that throttles': { status: 429 },
  'a webhook that does not answer': {
    status: 500,
    ...message('Internal error occurred: failed calling webhook "a.b": failed to call webhook'),
  },
  'an authorizer': {
    status: 403,
    ...message(
      `${OF} is forbidden: User "jane" cannot create resource "podcertificaterequests" in API group "certificates.k8s.io" in the namespace "team-a"`,
    ),
  },
  'a quota': {
    status: 403,
    ...message(
      `${OF} "a" is forbidden: exceeded quota: q, requested: count/${OF}=1, used: count/${OF}=5, limited: count/${OF}=5`,
    ),
  },
  'a namespace that is being deleted': {
    status: 403,
    ...message(
      `${OF} "a" is forbidden: unable to create new content in namespace team-a because it is being terminated`,
    ),
  },
  'expired credentials': { status: 401 },
  'a missing namespace': { status: 404 },
  'an object of the same name': { status: 409 },
};

for (const [by, answer] of Object.entries(untested)) {
  test(`a case is skipped, not passed, after an error by ${by}`, async () => {
    const { result } = await outcomeOf(answer);
    assert.ok(result !== 'stored');
    assert.equal(result.outcome, 'skip');
    assert.match(result.evidence, RegExp(`POST: ${answer.status}`));
  });
}

const rejections: Readonly<Record<string, Partial<KubeErrorInit>>> = {
  decoding: { status: 400 },
  validation: { status: 422 },
  'an admission plugin': {
    status: 403,
    ...message(
      'certificatesigningrequests.certificates.k8s.io "a" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    ),
  },
  'an admission webhook': {
    status: 403,
    ...message('admission webhook "a.b" denied the request: no system:masters'),
  },
};

for (const [by, answer] of Object.entries(rejections)) {
  test(`a rejection by ${by} is one of the request, and is not retried`, async () => {
    const { result, waits } = await outcomeOf(answer, 'stored');
    assert.ok(result !== 'stored');
    assert.equal(result.outcome, 'pass');
    assert.deepEqual(waits, []);
  });
}

test('creation is retried after the time that the API server names', async () => {
  const { result, waits } = await outcomeOf(
    { status: 503, retryAfter: 7_000 },
    { status: 503 },
    'stored',
  );
  assert.equal(result, 'stored');
  assert.deepEqual(waits, [7_000, 1_000]);
});

test('a creation that the client sent again after 429 is not sent again once more', async () => {
  const { result, waits } = await outcomeOf({ status: 429 }, 'stored');
  assert.ok(result !== 'stored');
  assert.deepEqual(waits, []);
});
