// SPDX-License-Identifier: Apache-2.0
/**
 * What `countersign check` names by itself: clocks that are apart, CAs whose anchor is too new,
 * Secrets without consent.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '#diagnose/check/finding.ts';
import type { Lease } from '#kube/lease/lease.ts';
import { at, print, state } from '../../operations/signer-states.ts';
import { findingsOf, lease, leasesWithout, signersOf, waiting } from './well.ts';

const MINUTE = 60_000;

/**
 * A Lease of pcr-issuer that was renewed so long ago by the API server's clock, and when by the
 * holder's.
 */
function renewed(ago: number, holdersClockAhead: number): Lease {
  const entry = {
    manager: 'countersign-pcr-issuer',
    operation: 'Update',
    time: at(-ago),
    fieldsV1: { 'f:spec': { 'f:holderIdentity': {}, 'f:renewTime': {} } },
  };
  const written = lease('pcr-issuer', {}, ago - holdersClockAhead);
  return {
    ...written,
    metadata: { ...written.metadata, managedFields: [entry] },
  };
}

/** A write of somebody else to the same Lease, which is no renewal. */
function labelled(old: Lease): Lease {
  const { managedFields } = old.metadata as unknown as { managedFields: object[] };
  const label = { manager: 'kubectl', time: at(-1_000), fieldsV1: { 'f:metadata': {} } };
  return {
    ...old,
    metadata: { ...old.metadata, managedFields: [...managedFields, label] },
  };
}

const withLease = (each: Lease): { installed: { leases: { value: readonly Lease[] } } } => ({
  installed: { leases: { value: [...leasesWithout('pcr-issuer'), each] } },
});
const severities = (found: readonly Finding[]): readonly string[] =>
  found.map(({ severity }) => severity);

for (const [name, ahead] of [
  ['ahead of', 12 * MINUTE],
  ['behind', -12 * MINUTE],
] as const) {
  test(`names a component’s clock that runs twelve minutes ${name} the API server's`, () => {
    const changes = withLease(renewed(2_000, ahead));
    assert.deepEqual(severities(findingsOf('components-running', changes)), ['ok']);
    const [found, ...others] = findingsOf('component-clocks', changes);
    assert.equal(found?.severity, 'error');
    assert.match(found.why, new RegExp(`of pcr-issuer runs, the local clock is 720 s ${name}`));
    assert.match(found.why, /signs nothing/);
    assert.match(found.subject ?? '', /^lease\/countersign-pcr-issuer/);
    assert.equal(others.length, 0);
  });
}

test('a clock that is a minute off is a warning: the component signs', () => {
  const [found] = findingsOf('component-clocks', withLease(renewed(2_000, MINUTE)));
  assert.equal(found?.severity, 'warning');
  assert.doesNotMatch(found.why, /signs nothing/);
});

test('a clock that is a few seconds off is well', () => {
  const found = findingsOf('component-clocks', withLease(renewed(2_000, 5_000)));
  assert.deepEqual(severities(found), ['ok']);
});

test('ignores the clock of a dead component that was ahead', () => {
  const dead = withLease(renewed(5 * MINUTE, 12 * MINUTE));
  assert.deepEqual(severities(findingsOf('components-running', dead)), ['error']);
  assert.deepEqual(severities(findingsOf('component-clocks', dead)), ['ok']);
});

test('who writes something else into a Lease does not renew it', () => {
  const dead = withLease(labelled(renewed(5 * MINUTE, 0)));
  assert.deepEqual(severities(findingsOf('components-running', dead)), ['error']);
});

test('a request that waits until kubelets have the anchor of its CA says until when', () => {
  const value = signersOf(state({ served: { a: 4, b: 60 } }));
  const [found] = findingsOf('requests-answered', {
    installed: { requests: { value: [waiting(180)] }, signers: { value } },
  });
  assert.match(found?.why ?? '', new RegExp(`${print('a')} was published recently`));
  assert.ok(found?.why.includes(`starts at ${at(6 * MINUTE)}`), found?.why);
  assert.equal(
    found?.remediation,
    'countersign explain podcertificaterequest/web -n team-a',
    'the command that says more',
  );
});

test('a request of a person is explained, not described', () => {
  const csr = { object: 'certificatesigningrequest/jane', waitsForApproval: true };
  const { namespace: _namespace, ...request } = waiting(180, csr);
  const [found] = findingsOf('requests-approved', {
    installed: { requests: { value: [request] } },
  });
  assert.equal(found?.remediation, 'countersign explain certificatesigningrequest/jane');
});

test('reports an anchor kept for leaves of an earlier ClusterSigner, and until when', () => {
  const held = state({ served: { a: 60, b: 60 }, retained: { b: '2026-01-02T00:00:00Z' } });
  const [found] = findingsOf('bundles-equal', {
    installed: { signers: { value: signersOf(held) } },
  });
  assert.equal(found?.severity, 'warning');
  assert.match(found.why, /until 2026-01-02T00:00:00Z: it was published for an earlier/);
  assert.equal(found.remediation, 'countersign explain signer/workload');
});

test('a Secret without consent comes with the command by which its owner gives it', () => {
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'SecretNotGranted', message: 'x' } as const,
  ];
  const value = signersOf(state({ conditions }));
  const [found] = findingsOf('signers-ready', { installed: { signers: { value } } });
  assert.match(
    found?.remediation ?? '',
    /^kubectl annotate secret workload-ca -n countersign-keys countersign\.dev\/signer-name=example\.com\/workload /,
  );
});

test('a finding names the log of a component in the namespace of the installation', () => {
  const signers = { value: signersOf(state({ served: {} })) };
  const [found] = findingsOf('bundles-equal', { installed: { signers, namespace: 'pki' } });
  assert.equal(found?.remediation, 'kubectl -n pki logs deployment/countersign-attester');
});
