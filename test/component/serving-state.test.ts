// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVING_REPORT, readReport, type ServingReport } from '#api/serving/report.ts';
import { createServingState, type ServingState } from '#component/serving-state.ts';
import { teamSigner } from '../support/signers/namespaced-signer.ts';
import { workload } from '../support/signers/workload-profile.ts';

const SLOW = {
  reason: 'ExpressionTooSlow',
  message: 'took too long',
  stops: false,
  expression: 'spec.pods.allow',
};
let now = 0;

function started(): ServingState {
  const state = createServingState({ clock: () => now, namespaced: true });
  state.checked([workload()], []);
  return state;
}

const reportOf = (state: ServingState): ServingReport | undefined =>
  readReport(state.annotations()[SERVING_REPORT] ?? '');

test('a namespace with many faults takes no room from the others', () => {
  const state = started();
  const of = (namespace: string, name: string): ReturnType<typeof teamSigner> =>
    teamSigner({ namespace, name });
  state.report(workload(), SLOW);
  state.report(of('team-b', 'web'), SLOW);
  for (let each = 0; each < 500; each += 1) state.report(of('team-a', `s-${each}`), SLOW);
  const named = reportOf(state)?.faults.flatMap(({ signers = [] }) => signers) ?? [];
  assert.equal(named.length, 64);
  assert.ok(named.includes('team-b/web'));
  assert.ok(named.includes(workload().metadata.name));
  assert.ok(named.includes('team-a/s-499'));
});

test('nothing is reported before the permissions were checked once', () => {
  const state = createServingState({ clock: () => now, namespaced: true });
  assert.deepEqual(state.annotations(), {});
});

test('reports each fault at work once, with its signer, generation and expression', () => {
  const state = started();
  let changes = 0;
  state.onChange(() => (changes += 1));
  for (let times = 0; times < 3; times += 1) state.report(teamSigner(), SLOW);
  const { name, namespace = '', generation } = teamSigner().metadata;
  assert.deepEqual(reportOf(state)?.faults, [
    { ...SLOW, signers: [`${namespace}/${name}`], generation },
  ]);
  assert.equal(changes, 1);
});

test('the result of a check is reported at once', () => {
  const state = createServingState({ clock: () => now, namespaced: true });
  const reported: (ServingReport | undefined)[] = [];
  state.onChange(() => reported.push(reportOf(state)));
  const lost = { reason: 'MissingPermissions', message: 'lacks: sign', stops: true };
  state.checked([workload()], [lost]);
  state.checked([workload()], []);
  assert.deepEqual(
    reported.map((each) => each?.faults.map(({ reason }) => reason)),
    [['MissingPermissions'], []],
  );
});

test('what is not found again lapses after ten minutes', () => {
  now = 0;
  const state = started();
  state.report(teamSigner(), SLOW);
  now = 599_999;
  assert.equal(reportOf(state)?.faults.length, 1);
  now = 600_000;
  assert.deepEqual(reportOf(state)?.faults, []);
});

test('whoever makes Signers without end fills up no report', () => {
  const state = started();
  for (let index = 0; index < 10_000; index += 1) {
    const signer = teamSigner();
    state.report({ ...signer, metadata: { ...signer.metadata, name: `s-${index}` } }, SLOW);
  }
  assert.equal(reportOf(state)?.faults.length, 64);
});
