// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from '#api/serving/report.ts';
import {
  createLaggingTargets,
  type LaggingTargets,
} from '#trust/trust-distributor/lagging-targets.ts';
import { createServingState } from '#component/serving-state.ts';
import { signerWith, anchor } from '../../support/trust/bundles.ts';
import { recordedComponent } from '../../support/component/recorded-component.ts';

const signer = signerWith([anchor('A').pem]);

/** Targets whose last write failed, as authority reads them in the Lease. */
function watched(): {
  readonly laggards: LaggingTargets;
  readonly messages: () => readonly string[];
} {
  const state = createServingState({ clock: () => 0, namespaced: false });
  state.checked([signer], []);
  const laggards = createLaggingTargets(recordedComponent({ serving: state }));
  const messages = (): readonly string[] => {
    const [text = ''] = Object.values(state.annotations());
    return (readReport(text)?.faults ?? []).map(({ reason, message, stops }) => {
      assert.equal(stops, false);
      return `${reason}: ${message}`;
    });
  };
  return { laggards, messages };
}

test('who lags is named until it does not any more', () => {
  const { laggards, messages } = watched();
  laggards.add(signer, 'ConfigMap a/x');
  laggards.add(signer, 'apiservices/v1.x');
  laggards.add(signer, 'apiservices/v1.x');
  assert.deepEqual(messages(), [
    'TargetsLagging: ConfigMap a/x, apiservices/v1.x cannot be written; see the log of trust-distributor',
  ]);
  laggards.remove('ConfigMap a/x');
  assert.match(messages().join(''), /^TargetsLagging: apiservices\/v1.x cannot/);
  laggards.remove('apiservices/v1.x');
  assert.deepEqual(messages(), []);
});

test('a target that another writer replaces is named with that writer', () => {
  const { laggards, messages } = watched();
  laggards.add(signer, 'apiservices/v1.x', 'field manager "a" replaces it');
  assert.match(messages().join(), /apiservices\/v1\.x \(field manager "a" replaces it\) cannot/);
});

test('of many some are named and the others counted', () => {
  const { laggards, messages } = watched();
  for (let at = 1; at <= 50; at += 1) laggards.add(signer, `ConfigMap n${at}/x`);
  assert.match(messages().join(''), /ConfigMap n5\/x and 45 more cannot be written/);
});
