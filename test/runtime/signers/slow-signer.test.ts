// SPDX-License-Identifier: Apache-2.0
/** Who is told that expressions keep requests waiting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SignerObject } from '../../../src/api/signer/cluster-signer.ts';
import type { FoundFault } from '../../../src/runtime/component/serving-state.ts';
import { SignerError } from '../../../src/errors.ts';
import { Overrun, budgetSpent, turnsTaken } from '../../../src/runtime/signers/put-off.ts';
import { tellSlow, type EventScope } from '../../../src/runtime/signers/slow-signer.ts';
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
  tellSlow(component, scope, signer, error);
  const events = component.notes.map(({ reason, regarding: { name, namespace } }) => {
    return [reason, name, namespace] as const;
  });
  return { faults, events };
}

function spentBy(signer: string): Error {
  return budgetSpent('team-a', { waitMs: 700, dearest: { signer, where: WHERE, ms: 12 } });
}

test('a spec that does not compile stops its signer; a request that takes too long does not', () => {
  for (const [step, stops] of [
    ['compile', true],
    ['evaluate', false],
  ] as const) {
    const { faults, events } = told('cluster', workload(), new Overrun(step, WHERE));
    assert.deepEqual(
      faults.map(({ reason, stops: does, expression }) => [reason, does, expression]),
      [['CelOverrun', stops, WHERE]],
    );
    assert.deepEqual(events, [['CelOverrun', workload().metadata.name, undefined]]);
  }
});

test('a spent budget is told to each Signer that waits, the field only to the one that has it', () => {
  const { name } = teamSigner().metadata;
  for (const [dearest, expression] of [
    [name, WHERE],
    ['another', undefined],
  ] as const) {
    const { faults, events } = told('everywhere', teamSigner(), spentBy(dearest));
    assert.deepEqual(
      faults.map((fault) => [fault.reason, fault.stops, fault.expression]),
      [['CelBudgetSpent', false, expression]],
    );
    assert.deepEqual(events, [['CelBudgetSpent', name, 'team-a']]);
  }
});

test('without permission to write Events in its namespace, the condition of a Signer still says so', () => {
  const { faults, events } = told('cluster', teamSigner(), new Overrun('evaluate', WHERE));
  assert.deepEqual([faults.length, events], [1, []]);
});

test('a busy machine, and errors that a request causes, are nothing to tell the signer', () => {
  const own = new SignerError({ code: 'CEL_EVALUATION', disposition: 'wait', message: 'no' });
  for (const error of [turnsTaken(WHERE), own, new TypeError('a fault of ours')]) {
    assert.deepEqual(told('everywhere', teamSigner(), error), { faults: [], events: [] });
  }
});
