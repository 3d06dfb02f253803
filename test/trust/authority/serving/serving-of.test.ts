// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServingFault } from '#api/serving/report.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import { rightsFaults } from '#component/rbac/rights-faults.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ComponentState } from '#trust/authority/serving/component-leases.ts';
import { servingOf, type ServingFinding } from '#trust/authority/serving/serving-of.ts';
import { clusterSigner, workloadSpec } from '../../../support/signers/cluster-signer.ts';

const CLUSTER = readClusterSigner(clusterSigner(workloadSpec()));
const NAMESPACED: ClusterSigner = {
  ...CLUSTER,
  kind: 'Signer',
  metadata: { ...CLUSTER.metadata, namespace: 'team-a' },
};
const { trustBundle, ...unpublished } = CLUSTER.spec;
const { pods: _pods, ...requestsOnly } = unpublished;
const { requests: _requests, ...podsOnly } = unpublished;
const fault: ServingFault = { reason: 'MissingPermissions', message: 'lacks: sign', stops: true };

const replica = (
  faults: readonly ServingFault[] = [],
  more: object = {},
): ComponentState['replicas'][number] => ({
  name: 'x',
  report: { checked: 'seen', namespaced: false, faults, ...more },
});
const state = (...replicas: ComponentState['replicas']): ComponentState => ({
  installed: true,
  alive: replicas.length > 0,
  replicas,
});
const ABSENT: ComponentState = { installed: false, alive: false, replicas: [] };

/** Everything serves, except what `more` says. */
function find(
  more: Readonly<Record<string, ComponentState | undefined>>,
  signer: ClusterSigner = CLUSTER,
): ServingFinding {
  const stateOf = (component: string): ComponentState | undefined =>
    component in more ? more[component] : state(replica(), replica());
  return servingOf({ signer, stateOf, digest: 'seen' });
}

test('a signer is served when every needed component is alive without a fault', () => {
  assert.equal(find({}).status, 'True');
});

for (const [component, spec, needed] of [
  ['approver', requestsOnly, true],
  ['signer', requestsOnly, true],
  ['pcr-issuer', requestsOnly, false],
  ['approver', podsOnly, false],
  ['signer', podsOnly, false],
  ['pcr-issuer', podsOnly, true],
  ['authority', podsOnly, true],
  ['attester', podsOnly, false],
  ['attester', { ...podsOnly, ...(trustBundle === undefined ? {} : { trustBundle }) }, true],
] as const) {
  const has = Object.keys(spec).filter((key) => ['pods', 'requests', 'trustBundle'].includes(key));
  test(`a signer with ${has.join(' and ')} ${needed ? 'needs' : 'needs no'} ${component}`, () => {
    const signer = { ...CLUSTER, spec };
    for (const broken of [ABSENT, state(replica([fault]))]) {
      assert.equal(find({ [component]: broken }, signer).status, needed ? 'False' : 'True');
    }
  });
}

test('certificate-request is needed if installed and the spec names it', () => {
  const spec = { ...CLUSTER.spec, certificateRequests: { rules: [] } };
  const signer = { ...CLUSTER, spec };
  const of = (its: ComponentState, which: ClusterSigner): string =>
    find({ 'certificate-request': its }, which).status;
  assert.equal(of(ABSENT, signer), 'True');
  assert.equal(of({ ...ABSENT, installed: true }, signer), 'False');
  assert.equal(of({ ...ABSENT, installed: true }, CLUSTER), 'True');
});

test('the fault of one replica of several counts, since it has a share of the requests', () => {
  const { status, reason, message } = find({ signer: state(replica(), replica([fault])) });
  assert.deepEqual([status, reason], ['False', 'MissingPermissions']);
  assert.match(message, /signer \(1 of 2 replicas\): lacks: sign/);
});

test('what two replicas report is said once, and a fault of another signer not at all', () => {
  const other = { ...fault, message: 'other', signers: ['another'] };
  const { message } = find({ signer: state(replica([fault, other]), replica([fault])) });
  assert.equal(message, 'signer: lacks: sign');
});

// Without its ClusterRoleBinding, a component has none of the rights of its role.
test('many missing rights of one component are one line: who lacks which', () => {
  const lost = ['get', 'list', 'watch'].map((verb) => ({
    verb,
    resource: 'certificates.k8s.io/certificatesigningrequests',
    name: undefined,
    namespace: undefined,
  }));
  const faults = rightsFaults('signer', lost, [CLUSTER]);
  assert.equal(faults.length, 3);
  const { message } = find({ signer: state(replica(faults), replica(faults)) });
  assert.equal(message.split(' lacks: ').length, 2, message);
  assert.match(
    message,
    /^signer: ServiceAccount countersign-signer lacks: get .*, list .*, watch /,
  );
  assert.match(message, /ClusterRoleBinding or RoleBinding countersign-signer exists/);
  const [one] = faults;
  assert.ok(one !== undefined);
  assert.equal(find({ signer: state(replica([one])) }).message, `signer: ${one.message}`);
});

test('missing rights on the names of one signer do not suspect the binding of the role', () => {
  const lost = ['approve', 'sign'].map((verb) => ({
    verb,
    resource: 'certificates.k8s.io/signers',
    name: CLUSTER.spec.signerName,
    namespace: undefined,
  }));
  const { message } = find({ signer: state(replica(rightsFaults('signer', lost, [CLUSTER]))) });
  assert.match(
    message,
    /^signer: ClusterRole or Role \S+ lacks for this signer: approve .*, sign /,
  );
  assert.doesNotMatch(message, /Binding/);
});

test('a fault that stops nothing needs attention, and the signer is served', () => {
  const found = find({ signer: state(replica([{ ...fault, stops: false }])) });
  assert.equal(found.status, 'True');
  assert.equal(found.attention?.message, 'signer: lacks: sign');
});

test('the expression of a fault is named', () => {
  const slow = { ...fault, signers: ['team-a/workload'], expression: 'spec.pods.allow' };
  const its = { 'pcr-issuer': state(replica([slow], { namespaced: true })) };
  const rest = Object.fromEntries(
    ['approver', 'signer', 'authority'].map((each) => [
      each,
      state(replica([], { namespaced: true })),
    ]),
  );
  assert.match(find({ ...rest, ...its }, NAMESPACED).message, /spec\.pods\.allow: lacks/);
});

test('a component that has not checked all ClusterSigners leaves serving undecided', () => {
  const behind = state(replica(), replica([], { checked: 'earlier' }));
  assert.deepEqual(
    [find({ signer: behind }).status, find({ signer: behind }).reason],
    ['Unknown', 'ObservationPending'],
  );
});

test('a fault counts although another component has not looked yet', () => {
  const behind = state(replica([], { checked: 'earlier' }));
  assert.equal(find({ approver: behind, signer: state(replica([fault])) }).status, 'False');
});

test('a replica without a report, as of an earlier version, leaves it open', () => {
  const silent = state({ name: 'x', report: undefined });
  for (const each of [silent, undefined]) {
    assert.deepEqual(
      [find({ signer: each }).status, find({ signer: each }).reason],
      ['Unknown', 'NotReported'],
    );
  }
});

test('one replaced replica leaves serving undecided, one that stays away does not', () => {
  const replaced = { installed: true, alive: true, replicas: [] };
  assert.equal(find({ signer: replaced }).status, 'Unknown');
  assert.equal(find({ signer: { ...replaced, alive: false } }).reason, 'ComponentDown');
});

test('where an optional component is away, its setting is named', () => {
  const spec = { ...CLUSTER.spec, certificateRequests: { rules: [] } };
  const said = (component: string): string =>
    find({ [component]: { ...ABSENT, installed: true } }, { ...CLUSTER, spec }).message;
  assert.match(
    said('certificate-request'),
    /\. If your values disable it, set components\.certificate-request\.enabled: true/,
  );
  assert.doesNotMatch(said('signer'), /enabled/);
});

test('a Signer is not served by a component that serves ClusterSigners only', () => {
  const found = find({}, NAMESPACED);
  assert.deepEqual([found.status, found.reason], ['False', 'NamespacedSignersOff']);
});

test('a distributor that says who lags is heard, and is otherwise not needed', () => {
  const lagging = { reason: 'TargetsLagging', message: 'ConfigMap a/x', stops: false };
  const found = find({ 'trust-distributor': state(replica([lagging])) });
  assert.equal(found.status, 'True');
  assert.equal(found.laggards, 'ConfigMap a/x');
  assert.deepEqual(found.attention, { reason: 'TargetsLagging', message: 'ConfigMap a/x' });
  for (const each of [undefined, ABSENT, state(replica())])
    assert.equal(find({ 'trust-distributor': each }).laggards, undefined);
});
