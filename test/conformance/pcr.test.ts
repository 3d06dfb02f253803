// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateAll } from '#conformance/case.ts';
import { PCR_CASES } from '#conformance/pcr/cases.ts';
import { sequence } from '#pki/der/der-writer.ts';
import { authority } from '../support/conformance/leaf.ts';
import { PCR_BROKEN } from '../support/conformance/pcr-broken.ts';
import {
  goodPcrSnapshot,
  podRequested,
  podIssued,
  podIssuedFor,
  withPodScenarios,
} from '../support/conformance/pcr-snapshot.ts';

test('a conforming signer passes every case', () => {
  const wrong = evaluateAll(PCR_CASES, goodPcrSnapshot()).filter(
    ({ outcome }) => outcome !== 'pass',
  );
  assert.deepEqual(wrong, []);
});

for (const { id, asserts, evaluate: judge } of PCR_CASES) {
  test(`${id} fails for a signer that breaks it: ${asserts}`, () => {
    const broken = PCR_BROKEN[id];
    assert.ok(broken !== undefined, `${id} is never seen to fail`);
    assert.equal(judge(broken).outcome, 'fail', judge(broken).evidence);
  });
}

test('without the permission to create requests, those of kubelets are evaluated', () => {
  const snapshot = withPodScenarios({ plain: { skipped: 'needs: create' } });
  const judged = evaluateAll(PCR_CASES, snapshot).filter(({ outcome }) => outcome === 'pass');
  assert.ok(judged.some(({ id }) => id === 'PCR-01'));
  assert.ok(judged.some(({ id }) => id === 'PCR-28'));
});

test('a leaf of a CA with an empty name is not taken for a root', () => {
  const nameless = authority('', 'nameless', { subject: sequence() });
  const snapshot = withPodScenarios({ plain: podIssued(podRequested(), { by: nameless }) });
  const result = evaluateAll(PCR_CASES, snapshot).find(({ id }) => id === 'PCR-30');
  assert.equal(result?.outcome, 'pass', result?.evidence);
});

const identities: readonly [string, { namespace: string; serviceAccount: string }, string][] = [
  ['/ns/team-a/sa/web', { namespace: 'team-a', serviceAccount: 'web' }, 'pass'],
  ['/ns/sa/sa/ns', { namespace: 'sa', serviceAccount: 'ns' }, 'pass'],
  ['/ns/ns/sa/sa', { namespace: 'ns', serviceAccount: 'sa' }, 'pass'],
  ['/cluster/one/ns/team-a/sa/web/pod/a', { namespace: 'team-a', serviceAccount: 'web' }, 'pass'],
  ['/ns/team-a/sa/web-admin', { namespace: 'team-a', serviceAccount: 'web' }, 'fail'],
  ['/ns/team-a-admin/sa/web', { namespace: 'team-a', serviceAccount: 'web' }, 'fail'],
  ['/ns/team-a/sa/admin/sa/web', { namespace: 'team-a', serviceAccount: 'web' }, 'fail'],
  ['/custom', { namespace: 'team-a', serviceAccount: 'web' }, 'fail'],
];

for (const domain of ['cluster.local', 'ns']) {
  for (const [path, pod, outcome] of identities) {
    const id = `spiffe://${domain}${path}`;
    test(`${id} makes PCR-40 and PCR-49 ${outcome} for ${pod.serviceAccount}`, () => {
      const issued = podIssuedFor({ uris: [id] }, podRequested({ pod }));
      const snapshot = withPodScenarios({ plain: issued, foreignPath: issued });
      const found = evaluateAll(PCR_CASES, snapshot).filter(
        (each) => each.id === 'PCR-40' || each.id === 'PCR-49',
      );
      assert.deepEqual(
        found.map((each) => each.outcome),
        [outcome, outcome],
      );
    });
  }
}
