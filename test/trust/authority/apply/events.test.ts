// SPDX-License-Identifier: Apache-2.0
/** ADR 0021: what a status says for the first time is recorded as an Event before it is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  AuthorityPhase,
  ClusterSigner,
  ClusterSignerStatus,
} from '#api/signer/cluster-signer.ts';
import type { SignerPlan } from '#trust/authority/decide/decide.ts';
import { eventsOf } from '#trust/authority/apply/events.ts';
import type { EventDetails } from '#kube/events/body.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { ReconcileResult } from '#kube/workqueue/run-loop.ts';
import { NOW } from '../../../support/pki/chain.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../../support/component/recorded-component.ts';
import { authorityActor } from '../../../support/trust/authority-actor.ts';
import { workload } from '../../../support/signers/workload-profile.ts';
import { OWN, after, planOf } from '../../../support/trust/ca-secrets.ts';

function start(): {
  readonly component: RecordedComponent;
  readonly carryOut: (plan: SignerPlan, signer: ClusterSigner) => Promise<ReconcileResult>;
} {
  const component = recordedComponent({ name: 'authority', clock: () => NOW });
  const actor = authorityActor(component);
  component.client.answer(({ method, body }) => (method === 'GET' ? own : (body ?? {})));
  const judged = { secret: undefined, clocksApart: false, now: NOW };
  return { component, carryOut: (plan, signer) => actor.apply({ ...judged, plan, signer }) };
}

const own = workload(OWN);
const ofOwn = planOf({ signer: own });

test('Events are written before their status, so that a crash in between loses none', async () => {
  const { component, carryOut } = start();
  const order: string[] = [];
  const told: string[] = [];
  Object.assign(component.events, {
    recordOnce: (note: EventDetails, occasion: string) => {
      order.push(note.reason);
      told.push(`${note.reason} ${occasion}`);
      return Promise.resolve();
    },
  });
  component.client.answer((request) => {
    if (request.method !== 'PUT') return own;
    order.push('PUT');
    throw new KubeError({ status: 0, what: 'the process dies', cause: new Error('killed') });
  });
  await assert.rejects(carryOut(ofOwn, own));
  // The next process finds the same difference, and tells the same Event: its occasion is the same.
  await assert.rejects(carryOut(ofOwn, own));
  assert.deepEqual(order, ['AuthorityActive', 'PUT', 'AuthorityActive', 'PUT']);
  assert.equal(new Set(told).size, 1);
});

test('a written status does not repeat its Events', async () => {
  const { component, carryOut } = start();
  await carryOut(ofOwn, own);
  const written = after(ofOwn, own);
  await carryOut(planOf({ signer: written }), written);
  assert.deepEqual(
    component.notes.map(({ reason }) => reason),
    ['AuthorityActive'],
  );
});

test('each phase change and each removed CA gives an Event', () => {
  const entries = planOf().status.authorities ?? [];
  const [active] = entries;
  assert.ok(active !== undefined);
  const as = (...phases: readonly AuthorityPhase[]): ClusterSignerStatus => ({
    authorities: phases.map((phase, index) => ({ ...active, phase, fingerprint: `${index}` })),
  });
  const reasons = (before: ClusterSignerStatus, now: ClusterSignerStatus): readonly string[] =>
    eventsOf({ ...workload(), status: before }, now).map(({ reason }) => reason);
  assert.deepEqual(reasons({}, as('Active')), ['AuthorityActive']);
  assert.deepEqual(reasons(as('Active'), as('Active', 'Prepared')), ['AuthorityPrepared']);
  assert.deepEqual(reasons(as('Active', 'Prepared'), as('Retiring', 'Active')), [
    'AuthorityRetiring',
    'AuthorityActive',
  ]);
  assert.deepEqual(reasons(as('Active'), as('Distrusted')), ['AuthorityDistrusted']);
  assert.deepEqual(reasons(as('Active', 'Retiring'), as('Active')), ['AuthorityGone']);
  assert.deepEqual(reasons(as('Active', 'Retiring'), as('Active', 'Retiring')), []);
});

function noteOf(before: AuthorityPhase | undefined, now: AuthorityPhase | undefined): string {
  const [active] = planOf().status.authorities ?? [];
  assert.ok(active !== undefined);
  const as = (phase: AuthorityPhase | undefined): ClusterSignerStatus => ({
    authorities: phase === undefined ? [] : [{ ...active, phase, leavesExpireBy: END }],
  });
  const [first] = eventsOf({ ...workload(), status: as(before) }, as(now));
  return first?.note ?? '';
}

const END = '2026-01-02T00:00:00Z';

test('the last leaf ends the trust in a Retiring CA, not in a distrusted one', () => {
  assert.match(noteOf('Active', 'Retiring'), new RegExp(`, at ${END} at the latest$`));
  assert.match(noteOf('Active', 'Distrusted'), /removes its anchor from the bundle now$/);
});

test('a prepared CA that is removed never signed, so no leaf of it ends', () => {
  assert.match(noteOf('Prepared', undefined), /was prepared and is removed: it never signed$/);
  assert.match(noteOf('Retiring', undefined), /its last leaf has expired$/);
});
