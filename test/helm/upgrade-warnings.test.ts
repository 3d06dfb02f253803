// SPDX-License-Identifier: Apache-2.0
/**
 * Helm prints the warnings of the API server, and those of the notes. An upgrade that changes
 * nothing prints none, since the user can do nothing about them.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CHART } from './helm.ts';
import { ONE, RELEASE, startStand, type Stand } from './stand.ts';

let stand: Stand;
before(async () => {
  stand = await startStand({ realPods: false });
});
after(() => stand.close());

/** Values that switch on what the API server could warn about: policies, kinds and components. */
const OPTIONAL = {
  ...ONE,
  whoMayRequest: true,
  networkPolicy: { enabled: true },
  namespacedSigners: { enabled: true },
  injection: { enabled: true },
  dashboards: { enabled: true },
  acme: { signers: [{ name: 'example.com/public' }] },
  components: Object.fromEntries(
    ['acme', 'acme-solver', 'ledger', 'notifier', 'pod-refresher', 'trust-distributor'].map(
      (name) => [name, { enabled: true }],
    ),
  ),
};

for (const [what, values] of Object.entries({ default: ONE, optional: OPTIONAL })) {
  test(`a helm upgrade with unchanged values prints no warning: ${what} values`, async () => {
    await stand.install(values);
    const { stdout, stderr } = await stand.helm(['upgrade', RELEASE, CHART], values);
    assert.equal(stderr, '');
    assert.doesNotMatch(stdout, /warning/i);
  });
}
