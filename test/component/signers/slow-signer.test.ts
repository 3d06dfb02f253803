// SPDX-License-Identifier: Apache-2.0
/** Who is told that expressions keep requests waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import type { FoundFault } from '#component/serving-state.ts';
import { SignerError } from '#base/errors.ts';
import { EvaluationTimeout, budgetSpent, throttled } from '#component/signers/evaluation-errors.ts';
import { reportSlowSigner, type EventScope } from '#component/signers/slow-signer.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const WHERE = 'spec.pods.allow';

/** The faults and the Events that come of an error. */
function told(
  scope: EventScope,
  signer: SignerObject,
  error: unknown,
): {
  readonly faults: readonly FoundFault[];
  readonly events: readonly (readonly [string, string, string | undefined])[];
} {
  const faults: FoundFault[] = [];
  const component = recordedComponent({
    serving: { report: (_signer, fault) => void faults.push(fault), retract: () => undefined },
  });
  reportSlowSigner(component, scope, signer, error);
  const events = component.notes.map(({ reason, regarding: { name, namespace } }) => {
    return [reason, name, namespace] as const;
  });
  return { faults, events };
}

function spentBy(signer: string): Error {
  return budgetSpent('team-a', { waitMs: 700, topSpender: { signer, where: WHERE, ms: 12 } });
}

test('a spec that does not compile stops its signer; a slow request does not', () => {
  for (const [step, stops] of [
    ['compile', true],
    ['evaluate', false],
  ] as const) {
    const { faults, events } = told('cluster', workload(), new EvaluationTimeout(step, WHERE));
    assert.deepEqual(
      faults.map(({ reason, stops: does, expression }) => [reason, does, expression]),
      [['CelTimeout', stops, WHERE]],
    );
    assert.deepEqual(events, [['CelTimeout', workload().metadata.name, undefined]]);
  }
});

test('reports a spent budget to each waiting Signer, the field only to its cause', () => {
  const { name } = teamSigner().metadata;
  for (const [topSpender, expression] of [
    [name, WHERE],
    ['another', undefined],
  ] as const) {
    const { faults, events } = told('everywhere', teamSigner(), spentBy(topSpender));
    assert.deepEqual(
      faults.map((fault) => [fault.reason, fault.stops, fault.expression]),
      [['CelBudgetSpent', false, expression]],
    );
    assert.deepEqual(events, [['CelBudgetSpent', name, 'team-a']]);
  }
});

test('without permission to write Events, the Signer’s condition still reports it', () => {
  const { faults, events } = told(
    'cluster',
    teamSigner(),
    new EvaluationTimeout('evaluate', WHERE),
  );
  assert.deepEqual([faults.length, events], [1, []]);
});

test('a busy machine, and errors that a request causes, are nothing to tell the signer', () => {
  const own = new SignerError({ code: 'CEL_EVALUATION', disposition: 'wait', message: 'no' });
  for (const error of [throttled(WHERE), own, new TypeError('a fault of ours')]) {
    assert.deepEqual(told('everywhere', teamSigner(), error), { faults: [], events: [] });
  }
});
