// SPDX-License-Identifier: Apache-2.0
/**
 * Operators and the ledger: nothing is said of what is not installed, and all of what is and does
 * not work.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment, InstallationFacts, OperatedInstallation } from '#diagnose/check/facts.ts';
import type { CheckId } from '#diagnose/check/catalogue.ts';
import { SERVING_REPORT, writeReport, type ServingFault } from '#api/serving/report.ts';
import { faultsOf } from '#notify/notifier/faults.ts';
import type { Lease } from '#kube/lease/lease.ts';
import { findingsOf, installed, lease, leasesWithout } from './well.ts';

type Status = NonNullable<OperatedInstallation['status']>;

const WELL: Status = {
  observedGeneration: 3,
  conditions: [
    { type: 'Available', status: 'True' },
    { type: 'Degraded', status: 'False' },
  ],
};

function operated(
  status: Partial<Status> | undefined = {},
  more: Partial<OperatedInstallation> = {},
): OperatedInstallation {
  const merged = { ...WELL, ...status };
  return { kind: 'Countersign', name: 'cluster', generation: 3, status: merged, ...more };
}

const condition = (type: string, status: 'True' | 'False', message: string): object => ({
  type,
  status,
  reason: 'Because',
  message,
});

const OPERATOR: readonly Lease[] = [...leasesWithout('none'), lease('operator')];

function operatorSays(
  objects: readonly OperatedInstallation[],
  more: Partial<InstallationFacts> = {},
): readonly string[] {
  const leases = { value: OPERATOR };
  return says('operator-installs', { leases, operated: { value: objects }, ...more });
}

function says(id: CheckId, changes: Partial<InstallationFacts>): readonly string[] {
  return findingsOf(id, { installed: changes }).map(
    ({ severity, subject = '', why }) => `${severity} ${subject} ${why}`,
  );
}

test('without an operator, and with one whose object is as it says, all is well', () => {
  assert.deepEqual(operatorSays([]), ['ok  nothing is installed by an operator']);
  assert.deepEqual(operatorSays([operated()], { installer: { kind: 'operator' } }), [
    'ok  countersign/cluster is installed as it says',
  ]);
});

const CASES: readonly (readonly [
  string,
  OperatedInstallation,
  RegExp,
  Partial<InstallationFacts>?,
])[] = [
  [
    'nobody has looked at the newest spec',
    operated({ observedGeneration: 2 }),
    /^error countersign\/cluster operator has not looked at generation 3 yet$/,
  ],
  [
    'nobody has ever looked at it',
    { ...operated(), status: undefined },
    /^error countersign\/cluster operator has not looked at generation 3 yet$/,
  ],
  [
    'no operator runs',
    operated(),
    /^error countersign\/cluster no replica of operator holds a Lease/,
    { leases: { value: [...leasesWithout('none'), lease('operator', {}, 60_000)] } },
  ],
  [
    'it is Degraded, and all components run',
    operated({ conditions: [WELL.conditions?.[0], condition('Degraded', 'True', 'x')] as never }),
    /^warning countersign\/cluster it is Degraded: Because: x$/,
  ],
  [
    'a component has no pods',
    operated({ conditions: [condition('Available', 'False', 'signer')] as never }),
    /^error countersign\/cluster it is not Available: Because: signer$/,
  ],
  [
    'it has a name that operators ignore',
    operated({}, { name: 'mine' }),
    /^warning countersign\/mine no operator looks at it: the only name is cluster$/,
  ],
  [
    'cert-manager is Degraded',
    operated(
      { conditions: [WELL.conditions?.[0], condition('Degraded', 'True', 'y')] as never },
      { kind: 'CertManagerDeployment' },
    ),
    /^warning certmanagerdeployment\/cluster it is Degraded: Because: y$/,
  ],
];

for (const [what, object, pattern, more] of CASES) {
  test(`an operator's installation: ${what}`, () => {
    const found = operatorSays([object], more);
    assert.equal(found.length, 1, found.join('\n'));
    assert.match(found[0] ?? '', pattern);
  });
}

test('an installation of the operator whose object is gone is healed by nobody', () => {
  const [found = ''] = operatorSays([], { installer: { kind: 'operator' } });
  assert.match(found, /^warning countersign\/cluster .*no operator repairs them$/);
});

test('an operator may install the version before its own', () => {
  const own = installed.deployments;
  assert.ok('value' in own);
  const [first] = own.value;
  assert.ok(first !== undefined);
  const operator: Deployment = { ...first, component: 'operator', image: 'x:2' };
  assert.deepEqual(says('versions-equal', { deployments: { value: [...own.value, operator] } }), [
    'ok  all components run the same image',
  ]);
});

function recording(
  mode: string | undefined,
  ...components: readonly string[]
): { readonly deployments: { readonly value: readonly Deployment[] } } {
  const args = mode === undefined ? [] : [`--ledger-mode=${mode}`];
  const value = components.map((component) => ({
    name: `countersign-${component}`,
    component,
    image: 'x:1',
    wanted: 1,
    available: 1,
    args: [component, ...args],
  }));
  return { deployments: { value } };
}

test('a ledger that is not installed, and not asked, is no fault', () => {
  const leases = { value: leasesWithout('ledger') };
  for (const mode of [undefined, 'off']) {
    const [found = ''] = says('ledger-records', { leases, ...recording(mode, 'signer') });
    assert.match(found, /^ok /);
  }
});

test('without a ledger, required stops recording components, best-effort buffers', () => {
  for (const leases of [
    { value: leasesWithout('ledger') },
    { value: [...leasesWithout('ledger'), lease('ledger', {}, 60_000)] },
  ]) {
    const required = says('ledger-records', { leases, ...recording('required', 'signer') });
    assert.match(required.join(), /^error deployment\/countersign-signer signer answers only/);
    const loses = says('ledger-records', { leases, ...recording('best-effort', 'signer') });
    assert.match(
      loses.join(),
      /^warning deployment\/countersign-signer .*records wait in memory, and a restart loses them$/,
    );
  }
});

test('reports a ledger without recording components, and one of several that does not', () => {
  assert.match(
    says('ledger-records', recording(undefined, 'signer')).join(),
    /^warning deployment\/countersign-ledger the ledger runs, and no component records/,
  );
  const [one, two] = [
    recording('required', 'signer'),
    recording(undefined, 'approver', 'pod-refresher'),
  ];
  const deployments = { value: [...one.deployments.value, ...two.deployments.value] };
  assert.deepEqual(says('ledger-records', { deployments }), [
    'warning deployment/countersign-approver approver does not record what it does, unlike signer',
  ]);
});

test('warns of required on one volume, not with PostgreSQL; reports every mode', () => {
  const signer = recording('required', 'signer').deployments.value;
  const approver = recording('best-effort', 'approver').deployments.value;
  const on = (...args: readonly string[]): readonly string[] => {
    const ledgers = recording(undefined, 'ledger').deployments.value;
    const ledger = ledgers.map((each) => ({ ...each, args: ['ledger', ...args] }));
    return says('ledger-records', { deployments: { value: [...signer, ...approver, ...ledger] } });
  };
  assert.match(
    on().join(),
    /^warning deployment\/countersign-ledger the ledger is on one volume \(SQLite\), and signer answer only/,
  );
  assert.deepEqual(on('--database-url=/run/url'), [
    'ok  signer (required), approver (best-effort) record what they do, and the ledger runs',
  ]);
});

function toldBy(faults: readonly ServingFault[], ago?: number): Partial<InstallationFacts> {
  const report = writeReport({ checked: 'x', namespaced: false, faults });
  const notifier = lease('notifier', { annotations: { [SERVING_REPORT]: report } }, ago);
  const labels = { 'app.kubernetes.io/component': 'notifier' };
  const own = { ...notifier, metadata: { ...notifier.metadata, labels } };
  return { leases: { value: [...leasesWithout('notifier'), own] } };
}

test('finds a failing notifier target, by its name and answer, and nowhere else', () => {
  const faults = faultsOf(
    [
      { name: 'ops', fault: 'it answers 401', faultSince: 0, isGone: false },
      { name: 'old', fault: 'it answers 410', faultSince: 0, isGone: true },
      { name: 'well', fault: undefined, faultSince: 0, isGone: false },
    ],
    'the API server is away',
  );
  const found = findingsOf('notifications-delivered', { installed: toldBy(faults) });
  assert.deepEqual(
    found.map(({ severity, subject, why }) => `${severity} ${subject ?? ''} ${why}`),
    [
      'warning deployment/countersign-notifier notifications are repeated or late: the API server is away',
      'warning deployment/countersign-notifier target ops has taken nothing since 1970-01-01T00:00:00Z: it answers 401',
      'warning deployment/countersign-notifier target old has taken nothing since 1970-01-01T00:00:00Z: it answers 410',
    ],
  );
  assert.match(found[2]?.remediation ?? '', /its new URL/);
  assert.deepEqual(says('components-report-no-faults', toldBy(faults)), [
    'ok  no component reports a fault',
  ]);
});

test('healthy targets, or no notifier, pass; a missing right is another check', () => {
  const id = 'notifications-delivered';
  assert.deepEqual(says(id, toldBy([])), ['ok  notifier delivers to every target']);
  const none = { leases: { value: leasesWithout('notifier') } };
  assert.deepEqual(says(id, none), ['ok  notifier does not run and sends nothing']);
  const lacks = toldBy([{ reason: 'MissingPermissions', message: 'lacks: get', stops: true }]);
  assert.deepEqual(says(id, lacks), ['ok  notifier delivers to every target']);
  assert.match(says('components-report-no-faults', lacks)[0] ?? '', /^error .*MissingPermissions/);
});

test('a fault that stops no request concerns no signer', () => {
  const fault = { reason: 'RefreshBlocked', message: 'Deployment a/web', stops: false };
  assert.match(
    says('components-report-no-faults', toldBy([fault]))[0] ?? '',
    /^warning .*notifier reports RefreshBlocked: Deployment a\/web$/,
  );
});
