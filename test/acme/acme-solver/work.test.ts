// SPDX-License-Identifier: Apache-2.0
/**
 * What acme-solver does for a Challenge that is presented and that the self-check does not find.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SolverWork } from '#acme/acme-solver/work.ts';
import type { KubeObject } from '#api/object/object.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { at, NOW } from '../acme/requests/build.ts';

const NEVER = new AbortController().signal;
const HALF_MINUTE = 30_000;

/** A presented Challenge, and a solver that finds `problems` one after the other. */
function stage(problems: (string | undefined)[]) {
  let now = NOW;
  let looks = 0;
  let object = {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Challenge',
    metadata: { namespace: 'team-a', name: 'c', uid: 'u' },
    spec: {
      signerRef: { kind: 'AcmeClusterSigner', name: 'web' },
      orderRef: { name: 'o', uid: 'o' },
      authorizationURL: 'https://ca.example/a',
      url: 'https://ca.example/c',
      type: 'http-01',
      token: 'token',
      dnsName: 'a.example',
      solver: 'web',
    },
    status: {
      processing: true,
      state: 'pending',
      reason: 'NotPropagated',
      solver: { presented: true, changedAt: at(NOW) } as Record<string, unknown>,
    },
  };
  const component = recordedComponent({ name: 'acme-solver', clock: () => now });
  component.client.answer(({ body }) => {
    const { status } = JSON.parse(String(body)) as { status: { solver: Record<string, unknown> } };
    const merged = Object.entries({ ...object.status.solver, ...status.solver });
    const solver = Object.fromEntries(merged.filter(([, value]) => value !== null));
    object = { ...object, status: { ...object.status, solver } };
    return object;
  });
  const look = (): Promise<string | undefined> => {
    looks += 1;
    return Promise.resolve(problems.length > 1 ? problems.shift() : problems[0]);
  };
  const solver = { look } as never;
  const challenges = { get: () => object as unknown as KubeObject, applyWrite: () => undefined };
  const watched = { settled: () => true, challenges } as never;
  const work = new SolverWork(component, watched, () => ({ solver }));
  return {
    reconcile: () => work.reconcile('team-a/c', NEVER),
    later: () => {
      now += HALF_MINUTE;
    },
    waitsFor: (reason: string) => {
      object = { ...object, status: { ...object.status, reason } };
    },
    solver: () => object.status.solver,
    looks: () => looks,
    writes: () => component.client.requests.length,
  };
}

test('why a presented route is not served is looked at while the self-check fails', async () => {
  const { reconcile, later, solver, looks, writes, waitsFor } = stage(['x', 'x', undefined]);
  const wait = await reconcile();
  assert.deepEqual([typeof wait, looks()], ['object', 0]);
  later();
  await reconcile();
  const presented = { presented: true, changedAt: at(NOW) };
  assert.deepEqual(solver(), { ...presented, reason: 'RouteNotAdmitted', message: 'x' });
  // Each event of the Challenge comes here, and only the interval counts.
  await reconcile();
  assert.deepEqual([looks(), writes()], [1, 1]);
  later();
  await reconcile();
  assert.deepEqual([looks(), writes()], [2, 1]);
  later();
  await reconcile();
  assert.deepEqual(solver(), presented);
  waitsFor('RateLimited');
  later();
  assert.equal(await reconcile(), undefined);
  assert.equal(looks(), 3);
});
