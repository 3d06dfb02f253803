// SPDX-License-Identifier: Apache-2.0
/** What `countersign check` passes over, and how much it says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstallationFacts } from '#diagnose/check/facts.ts';
import { state } from '../../operations/signer-states.ts';
import { findingsOf, lease, leasesWithout, signersOf, waiting } from './well.ts';

test('what may not be read is no fault, and names the permission', () => {
  const found = findingsOf('replicas-available', {
    installed: { deployments: { lacks: 'list deployments.apps' } },
  });
  assert.deepEqual(
    found.map(({ severity, why }) => [severity, why]),
    [['unseen', 'you may not list deployments.apps']],
  );
});

test('a hundred overdue requests are five lines and a number, the oldest first', () => {
  const requests = Array.from({ length: 100 }, (_none, index) => waiting(200 + index));
  const found = findingsOf('requests-answered', { installed: { requests: { value: requests } } });
  assert.equal(found.length, 6);
  assert.match(found[0]?.why ?? '', /for 4m59s$/);
  assert.equal(found[5]?.subject, '95 more');
});

test('a person is not invited to approve a request that its signer would fail', () => {
  const value = [waiting(180, { waitsForApproval: true, wouldFail: 'x' })];
  const found = findingsOf('requests-approved', { installed: { requests: { value } } });
  assert.deepEqual(
    found.map(({ severity }) => severity),
    ['ok'],
  );
});

test('a request that waits for less than two minutes is on its way', () => {
  const found = findingsOf('requests-answered', {
    installed: { requests: { value: [waiting(119)] } },
  });
  assert.deepEqual(
    found.map(({ severity }) => severity),
    ['ok'],
  );
});

test('a webhook that ignores failures, or sees other kinds, blocks nothing', () => {
  const configuration = 'mutatingwebhookconfiguration/x';
  const value = [
    {
      configuration,
      name: 'a',
      failurePolicy: 'Ignore',
      rules: [{ apiGroups: ['*'], resources: ['*'] }],
    },
    { configuration, name: 'b', rules: [{ apiGroups: ['apps'], resources: ['deployments'] }] },
    { configuration, name: 'c', rules: [{ apiGroups: ['*'], resources: ['pods/eviction'] }] },
  ];
  const found = findingsOf('foreign-webhooks', { kubernetes: { webhooks: { value } } });
  assert.deepEqual(
    found.map(({ severity }) => severity),
    ['ok'],
  );
});

test('a signer without CRLs, and one whose leaves name where they are, lack nothing', () => {
  const urls = ['http://crl.example.com/{authority}.crl'];
  const said = [{}, { crl: { urls } }].map((profile) => {
    const signers = { value: signersOf(state({ spec: { profile } })) };
    const found = findingsOf('crl-distribution-points', { installed: { signers } });
    return found.map(({ severity, why }) => `${severity}: ${why}`);
  });
  assert.deepEqual(said, [
    ['ok: no signer has profile.crl'],
    ['ok: every leaf of a signer with profile.crl names where its CRL is'],
  ]);
});

test('an omitted optional component is not missed, unless it had a replica', () => {
  const name = 'certificate-request';
  const without = leasesWithout(name);
  const gone = { deployments: { value: [] }, leases: { value: without } };
  const late = { ...gone, leases: { value: [...without, lease(name, {}, 60_000)] } };
  const severities = (changes: Partial<InstallationFacts>): readonly string[] =>
    findingsOf('components-running', { installed: changes }).map(({ severity }) => severity);
  assert.deepEqual(severities(gone), ['ok']);
  assert.deepEqual(severities(late), ['error']);
});
