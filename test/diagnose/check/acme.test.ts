// SPDX-License-Identifier: Apache-2.0
/** What `countersign check` says of ACME signers and their Orders. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckId } from '#diagnose/check/catalogue.ts';
import type { AcmeFacts, InstallationFacts, NewestOrder } from '#diagnose/check/facts.ts';
import { SIGNER } from '../../acme/acme/requests/build.ts';
import { NOW } from '../../operations/signer-states.ts';
import { findingsOf, installed, leasesWithout } from './well.ts';

const MINUTE = 60_000;
const WELL: AcmeFacts = { signers: [SIGNER], invalid: [], orders: { value: [] } };
const order = (changes: Partial<NewestOrder>): NewestOrder => ({
  name: 'web-1',
  namespace: 'team-a',
  attempt: 1,
  state: 'pending',
  isIssued: false,
  since: NOW - MINUTE,
  ...changes,
});
const withOrder = (changes: Partial<NewestOrder>): AcmeFacts => ({
  ...WELL,
  orders: { value: [order(changes)] },
});
const without = (component: string): InstallationFacts['deployments'] => {
  assert.ok('value' in installed.deployments);
  return { value: installed.deployments.value.filter((each) => each.component !== component) };
};
const ready = (status: 'True' | 'False', observedGeneration = 1): AcmeFacts => ({
  ...WELL,
  signers: [
    {
      ...SIGNER,
      metadata: { ...SIGNER.metadata, generation: 1 },
      status: {
        observedGeneration,
        conditions: [{ type: 'Ready', status, reason: 'TermsNotAgreed', message: 'agree' }],
      },
    },
  ],
});

const CASES: readonly (readonly [
  id: CheckId,
  when: string,
  acme: AcmeFacts,
  severity: 'ok' | 'warning' | 'error',
  says: RegExp,
  deployments?: InstallationFacts['deployments'],
])[] = [
  ['acme-components-there', 'all are', WELL, 'ok', /^acme, .*are there/],
  ['acme-components-there', 'acme is not', WELL, 'error', /Orders are made by it/, without('acme')],
  ['acme-signers-ready', 'one is', ready('True'), 'ok', /all 1 ACME signers are Ready/],
  ['acme-signers-ready', 'one is not', ready('False'), 'error', /TermsNotAgreed: agree/],
  ['acme-signers-ready', 'acme has not looked', ready('True', 0), 'error', /has not looked/],
  [
    ...(['acme-signers-ready', 'a spec is invalid'] as const),
    { ...WELL, signers: [], invalid: [{ name: 'acmesigner/a/b', why: 'spec.acme' }] },
    'error',
    /spec\.acme/,
  ],
  ['acme-orders-progress', 'one has just begun', withOrder({}), 'ok', /is progressing/],
  [
    ...(['acme-orders-progress', 'one is issued long ago'] as const),
    withOrder({ state: 'valid', isIssued: true, since: 0, nextAttemptAt: 1 }),
    'ok',
    /is progressing/,
  ],
  [
    ...(['acme-orders-progress', 'one waits for long'] as const),
    withOrder({ since: NOW - 11 * MINUTE, why: 'RateLimited: wait' }),
    'warning',
    /^it has waited for 11m: RateLimited: wait$/,
  ],
  [
    ...(['acme-orders-progress', 'an attempt is overdue'] as const),
    withOrder({ nextAttemptAt: NOW - 3 * MINUTE }),
    'error',
    /overdue by 180 s/,
  ],
  [
    ...(['acme-orders-progress', 'one ended'] as const),
    withOrder({ state: 'invalid', why: 'ChallengeFailed: no' }),
    'warning',
    /ended without a certificate: ChallengeFailed: no; another follows/,
  ],
  [
    ...(['acme-orders-progress', 'one ended that no other follows by itself'] as const),
    withOrder({ state: 'invalid', reason: 'WrongCertificate', why: 'WrongCertificate: no' }),
    'warning',
    /ended without a certificate: WrongCertificate: no; no other follows until its signer changes$/,
  ],
  [
    ...(['acme-orders-progress', 'one ended as all of its signer would'] as const),
    withOrder({ state: 'invalid', reason: 'CaUnusable', why: 'CaUnusable: no' }),
    'warning',
    /CaUnusable: no; the signer tries the CA again after 1 to 24 hours, or when it changes$/,
  ],
  [
    ...(['acme-orders-progress', 'one failed'] as const),
    withOrder({ state: 'failed', why: 'BadCsr: no' }),
    'error',
    /no other is made: BadCsr: no/,
  ],
];

for (const [id, when, acme, severity, says, deployments = installed.deployments] of CASES) {
  test(`${id}: ${when}`, () => {
    const [found, ...others] = findingsOf(id, {
      installed: { acme: { value: acme }, deployments },
    });
    assert.deepEqual(others, []);
    assert.equal(found?.severity, severity, found?.why);
    assert.match(found.why, says);
    assert.equal(found.remediation === undefined, severity === 'ok');
  });
}

test('a missing component is enabled by the manager of the installation', () => {
  for (const [installer, command] of [
    [
      { kind: 'helm', release: 'pki', namespace: 'sys' },
      /^helm upgrade pki .* --reset-then-reuse-values --set components\.acme\.enabled=true$/,
    ],
    [
      { kind: 'install' },
      /components\.acme\.enabled: true in your values, then countersign install /,
    ],
    [{ kind: 'operator' }, /^set spec\.components\.acme\.enabled: true .*--allow-image/],
  ] as const) {
    const [found] = findingsOf('acme-components-there', {
      installed: { acme: { value: WELL }, deployments: without('acme'), installer },
    });
    assert.match(found?.remediation ?? '', command);
  }
});

test('of many Orders the first are named, and the others counted', () => {
  const all = Array.from({ length: 9 }, (_none, index) =>
    order({ name: `web-${index}`, state: 'invalid' }),
  );
  const acme = { value: { ...WELL, orders: { value: all } } };
  const found = findingsOf('acme-orders-progress', { installed: { acme } });
  assert.equal(found.length, 6);
  assert.equal(found.at(-1)?.subject, '4 more');
});

test('what may not be listed is unseen, and no fault', () => {
  const acme = { lacks: 'list acmeclustersigners.acme.countersign.dev' };
  const [found] = findingsOf('acme-signers-ready', { installed: { acme } });
  assert.equal(found?.severity, 'unseen');
});

test('acme-responder has no Lease, and is not missed for it', () => {
  const leases = { value: leasesWithout('acme-responder') };
  const [found] = findingsOf('components-running', { installed: { leases } });
  assert.equal(found?.severity, 'ok');
});

test('only a failed Order is final: no other is made for its request', () => {
  for (const [state, isFinal] of [
    ['failed', true],
    ['invalid', undefined],
  ] as const) {
    const acme = { value: withOrder({ state, why: 'BadCsr: no' }) };
    const [found] = findingsOf('acme-orders-progress', { installed: { acme } });
    assert.equal(found?.isFinal, isFinal, state);
  }
});

test('the Orders that are only counted are final if all of them are', () => {
  const failed = Array.from({ length: 6 }, () => order({ state: 'failed', why: 'BadCsr: no' }));
  const late = order({ nextAttemptAt: NOW - 3 * MINUTE });
  for (const [value, isFinal] of [
    [failed, true],
    [[...failed, late], undefined],
  ] as const) {
    const acme = { value: { ...WELL, orders: { value } } };
    const last = findingsOf('acme-orders-progress', { installed: { acme } }).at(-1);
    assert.deepEqual([last?.why, last?.isFinal], ['they wait or ended as well', isFinal]);
  }
});
