// SPDX-License-Identifier: Apache-2.0
/** What becomes of a takeover decides whether the request is taken over again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '#kube/client/kube-error.ts';
import type { RequestOutcome } from '#requests/loop/outcome.ts';
import { reconcile, type Reconciler } from '#requests/loop/reconcile.ts';
import { requestKey } from '#requests/loop/request-key.ts';
import { createRequestState } from '#requests/loop/request-state.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { request, type Request } from './controlled.ts';

const one = request('r', 1);
const unavailable = new KubeError({ status: 503, what: 'GET a request' });

interface Case {
  readonly handle?: () => Promise<RequestOutcome>;
  readonly load?: () => Promise<Request | undefined>;
  readonly sources?: object;
}

/**
 * How often the takeover was settled, and how often the request was read, in one look at another
 * replica's request.
 */
async function takenOver({ handle, load, sources }: Case): Promise<[number, number]> {
  const shard = { owns: () => false, onChange: () => undefined };
  const component = recordedComponent({ shard });
  const { clock, random } = component;
  const signer = teamSigner({ namespace: 'team' });
  const queue = { add: () => undefined, addAt: () => undefined };
  let [settled, read] = [0, 0];
  const at = {
    init: {
      component,
      kind: 'PodCertificateRequest',
      signers: { serving: () => signer },
      sources,
      handle: handle ?? (() => assert.fail('nothing is to be decided')),
      regarding: () => ({ regarding: { apiVersion: 'v1', kind: 'Thing', name: 'r' } }),
    },
    state: createRequestState({ clock, random, queue }),
    requests: {
      peek: () => one,
      load: () => {
        read += 1;
        return load === undefined ? Promise.resolve(one) : load();
      },
      applyWrite: () => undefined,
    },
    takeover: {
      claims: () => true,
      settle: () => {
        settled += 1;
      },
    },
  } as unknown as Reconciler<Request, typeof signer>;
  await reconcile(at, requestKey(signer.spec.signerName, 'r')).catch(() => undefined);
  return [settled, read];
}

const FAILS: Readonly<Record<string, Case>> = {
  'cannot be read': { load: () => Promise.reject(unavailable) },
  'ends in an error that is expected': { handle: () => Promise.reject(unavailable) },
  'ends in an error that is not': { handle: () => Promise.reject(new TypeError('a bug')) },
  'has to wait': { handle: () => Promise.resolve({ outcome: 'waiting', reason: 'CaMissing' }) },
  'has to wait for a change': {
    handle: () => Promise.resolve({ outcome: 'waiting', reason: 'X', again: 'on-change' }),
  },
};

for (const [what, each] of Object.entries(FAILS)) {
  test(`a takeover that ${what} is not settled`, async () => {
    assert.deepEqual(await takenOver(each), [0, 1]);
  });
}

for (const [what, sources] of Object.entries({
  'is not listed': { listed: () => false },
  waits: { listed: () => true, waitsFor: () => 'the Issuer is not ready' },
})) {
  test(`while the source of the CA ${what} nothing is read and no takeover settles`, async () => {
    assert.deepEqual(await takenOver({ sources }), [0, 0]);
  });
}

for (const [what, each] of Object.entries({
  'answers the request': {
    handle: () => Promise.resolve({ outcome: 'issued', reason: 'Issued', written: one } as const),
  },
  'decides nothing': {
    handle: () => Promise.resolve({ outcome: 'undecided', reason: 'NoRule' } as const),
  },
  'finds no request': { load: () => Promise.resolve(undefined) },
} satisfies Record<string, Case>)) {
  test(`a takeover that ${what} is settled`, async () => {
    assert.deepEqual(await takenOver(each), [1, 1]);
  });
}
