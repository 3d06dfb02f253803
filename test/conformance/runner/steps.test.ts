// SPDX-License-Identifier: Apache-2.0
/** An API server that is away for a moment is no fault of the API, or of the signer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateWith } from '#conformance/runner/csr/client-authentication.ts';
import type { Run } from '#conformance/runner/run.ts';
import { runSteps } from '#conformance/runner/steps.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { issued } from '../../support/conformance/observed-requests.ts';
import { privateKey } from '../../support/pki/keys.ts';

const answer = (status: number): Promise<never> =>
  Promise.reject(new KubeError({ status, what: 'GET /a' }));

for (const status of [0, 429, 502, 503, 504]) {
  test(`a step that ends with ${status} is skipped, with the steps after it`, async () => {
    const { first, second } = await runSteps(['first', 'second'], {
      first: () => answer(status),
      second: () => answer(404),
    });
    assert.match(first.skipped ?? '', /the API server did not serve it: GET \/a: /);
    assert.deepEqual(second, { skipped: 'after first, which was skipped' });
  });
}

test('a step that ends with 404 or 500 is a fault', async () => {
  for (const status of [404, 500]) {
    const { first } = await runSteps(['first'], { first: () => answer(status) });
    assert.match(first.fault ?? '', RegExp(`GET /a: ${status}`));
  }
});

function runAnswering(status: number): Run {
  const connection = {
    server: 'https://memory',
    credentials: () => Promise.resolve({ tls: {} }),
    invalidate: () => undefined,
  };
  const clientWith = (): object => ({
    request: () => answer(status),
    close: () => Promise.resolve(),
  });
  return { connection, clientWith } as unknown as Run;
}

test('a login that the API server does not serve is skipped, a rejected one is a fault', async () => {
  const key = privateKey('P-256', 'requested');
  for (const status of [429, 503]) {
    const { skipped } = await authenticateWith(runAnswering(status), issued(), key);
    assert.match(skipped ?? '', /the API server did not serve it/);
  }
  for (const status of [0, 401]) {
    const { fault } = await authenticateWith(runAnswering(status), issued(), key);
    assert.match(fault ?? '', /did not accept it/);
  }
});
