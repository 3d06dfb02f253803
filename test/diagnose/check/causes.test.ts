// SPDX-License-Identifier: Apache-2.0
/** The cause is named, has the severity of what it costs, and stands for what it causes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import type { Deployment, InstallationFacts, Webhook } from '#diagnose/check/facts.ts';
import type { Finding } from '#diagnose/check/finding.ts';
import type { Installer } from '#diagnose/check/installer.ts';
import { reportOf, reportText } from '#diagnose/check/report.ts';
import { runChecks } from '#diagnose/check/run-checks.ts';
import { state } from '../../operations/signer-states.ts';
import {
  findingsOf,
  installed,
  kubernetes,
  lease,
  leasesWithout,
  RELEASE,
  signersOf,
} from './well.ts';

/** `severity subject why`. */
const lines = (found: readonly Finding[]): readonly string[] =>
  found.map(({ severity, subject = '', why }) => `${severity} ${subject} ${why}`);

const allOf = (changes: Partial<InstallationFacts>): readonly Finding[] =>
  runChecks({ kubernetes, installed: { ...installed, ...changes }, release: RELEASE });

const printed = (found: readonly Finding[]): readonly string[] =>
  reportText(reportOf(found))
    .split('\n')
    .filter((line) => /^ {2}[‼×]/.test(line));

const REPORTS = ['sign signers', 'get secrets', 'watch signers'].map((right) => ({
  reason: 'MissingPermissions',
  message: `ClusterRole countersign-signer lacks: ${right}`,
  stops: true,
}));
const lacking = (signers?: readonly string[]): ReturnType<typeof lease> =>
  lease('signer', {
    annotations: {
      'countersign.dev/serving': JSON.stringify({
        checked: '',
        namespaced: false,
        faults: REPORTS.map((each) => (signers === undefined ? each : { ...each, signers })),
      }),
    },
  });

function without(component: string, cluster: boolean): InstallationFacts['bindings'] {
  assert.ok('value' in installed.bindings);
  return {
    value: installed.bindings.value.filter(
      ({ role, namespace }) =>
        role.name !== `countersign-${component}` || (namespace === undefined) !== cluster,
    ),
  };
}

test('a binding that is gone is one line, which the lines of what it takes away follow', () => {
  const found = allOf({
    bindings: without('signer', true),
    leases: { value: [...leasesWithout('signer'), lacking()] },
  });
  assert.equal(found.filter(({ severity }) => severity === 'error').length, 1 + REPORTS.length);
  const [line = '', ...more] = printed(found);
  assert.deepEqual(more, []);
  assert.match(line, /× roles-bound: clusterrolebinding\/countersign-signer: it does not exist/);
  assert.match(reportText(reportOf(found)), /3 more findings follow from this/);
});

test('signers unserved for lack of a binding have it as cause, and others do not', () => {
  const conditions = (component: string): readonly Condition[] =>
    ['Ready', 'Degraded'].map((type) => ({
      type,
      status: type === 'Ready' ? 'False' : 'True',
      reason: type === 'Ready' ? 'NotServed' : 'MissingPermissions',
      message: `${component} (1 of 2 replicas): ClusterRole lacks: get a; ClusterRole lacks: get b; signer: it lacks`,
    })) as never;
  const printedFor = (component: string): readonly string[] => {
    const signers = { value: signersOf(state({ conditions: conditions(component) })) };
    return printed(allOf({ signers, bindings: without('signer', true) }));
  };
  assert.equal(printedFor('signer').length, 1);
  const [, ...others] = printedFor('pcr-issuer');
  assert.deepEqual(
    others.map((line) => /[a-z-]+(?=:)/.exec(line)?.[0]),
    ['signers-ready', 'rotation-on-time'],
  );
});

test('what a cause brings with it stays in the report for programs, with its cause', () => {
  const found = allOf({
    bindings: without('signer', true),
    leases: { value: [...leasesWithout('signer'), lacking()] },
  });
  const causes = found.flatMap(({ causedBy }) => causedBy ?? []);
  assert.deepEqual(
    causes,
    REPORTS.map(() => 'roles-bound clusterrolebinding/countersign-signer'),
  );
});

test('nothing installed is the only finding, and Leases prove no component', () => {
  const found = allOf({
    deployments: { value: [] },
    roles: { value: new Map() },
    policies: { value: new Map() },
    bindings: { value: [] },
    leases: { value: leasesWithout('signer') },
  });
  const [line = '', ...more] = printed(found);
  assert.deepEqual(more, []);
  assert.match(line, /× components-running: namespace\/\S+: Countersign is not installed/);
});

test('components without Deployments run elsewhere, as long as they have roles', () => {
  const found = allOf({ deployments: { value: [] } });
  assert.doesNotMatch(printed(found).join('\n'), /is not installed/);
});

test('a binding of another account, and one of another role, are no binding', () => {
  assert.ok('value' in installed.bindings);
  for (const change of [
    { accounts: ['elsewhere/countersign-signer'] },
    { accounts: [] },
    { role: { kind: 'Role', name: 'countersign-signer' } },
  ]) {
    const value = installed.bindings.value.map((each) =>
      each.role.name === 'countersign-signer' && each.namespace === undefined
        ? { ...each, ...change }
        : each,
    );
    const found = findingsOf('roles-bound', { installed: { bindings: { value } } });
    assert.equal(found[0]?.severity, 'error', JSON.stringify(change));
  }
});

test('a RoleBinding that is gone is named with its namespace', () => {
  const found = findingsOf('roles-bound', { installed: { bindings: without('signer', false) } });
  assert.match(lines(found).join('\n'), /rolebinding\/countersign-signer in namespace \S+ it does/);
});

test('bindings that may not be seen are no fault, and cause nothing', () => {
  const bindings = { lacks: 'list clusterrolebindings.rbac.authorization.k8s.io' };
  const found = allOf({ bindings, leases: { value: [...leasesWithout('signer'), lacking()] } });
  assert.equal(found.find(({ id }) => id === 'roles-bound')?.severity, 'unseen');
  assert.equal(printed(found).length, REPORTS.length);
});

const fresh = state({ spec: { signerName: 'example.com/new' } });
const unlisted = {
  ...fresh,
  signer: { ...fresh.signer, metadata: { ...fresh.signer.metadata, name: 'new', uid: 'new' } },
};
const READY: Condition = { type: 'Ready', status: 'True', reason: 'Checked', message: '' };
const UNREADY: Condition = { ...READY, status: 'False', reason: 'SecretNotFound' };
const both = { value: signersOf(state(), unlisted) };

const ADVICE: readonly (readonly [Installer, string])[] = [
  [
    { kind: 'helm', release: 'pki', namespace: 'sys' },
    `helm upgrade pki deploy/chart --namespace sys --reset-then-reuse-values --set-json 'signers=[{"name":"example.com/workload","serves":["pods","requests"]},{"name":"example.com/new","secret":"workload-ca","serves":["pods","requests"]}]'`,
  ],
  [
    { kind: 'operator' },
    `kubectl patch countersigns cluster --type=json -p '[{"op":"add","path":"/spec/signers/-","value":{"name":"example.com/new","secret":"workload-ca","serves":["pods","requests"]}}]' -o yaml | countersign rbac --operator /dev/stdin --namespace=countersign-system '--image=registry.example/countersign' '--allow-danger-zone' | kubectl apply --server-side --force-conflicts -f -`,
  ],
  [
    { kind: 'install' },
    'add the line to signers in values.yaml, and run countersign install --values values.yaml --force-conflicts',
  ],
  [
    { kind: 'manifests' },
    'add the line to signers in values.yaml, then: countersign manifests --values values.yaml | kubectl apply --server-side --force-conflicts -f -   # without values: countersign rbac --from-cluster with all other flags of the installation, because its output replaces the roles',
  ],
];

/** Its rights are applied with its own flags, so that it stays what it is. */
const OPERATOR: Deployment = {
  name: 'countersign-operator',
  component: 'operator',
  wanted: 2,
  available: 2,
  image: 'registry.example/countersign:1.2.3',
  args: ['operator', '--image=registry.example/countersign', '--allow-danger-zone', '--log=debug'],
};

for (const [installer, command] of ADVICE) {
  test(`one line for a ClusterSigner in no role, and the command of ${installer.kind}`, () => {
    const generation = { kind: 'Countersign', name: 'cluster', generation: 1 } as const;
    const operated = {
      value: [{ ...generation, signers: [{ name: 'example.com/workload' }], status: undefined }],
    };
    assert.ok('value' in installed.deployments);
    const deployments = { value: [...installed.deployments.value, OPERATOR] };
    const found = findingsOf('signers-listed', {
      installed: { signers: both, installer, operated, deployments },
    });
    assert.equal(found.length, 1);
    assert.equal(found[0]?.severity, 'error');
    assert.match(found[0].why, /signers needs this line: \{"name":"example\.com\/new"/);
    assert.equal(found[0].remediation, command);
  });
}

/** Components that lack the names of an unlisted signer, as its pods and Leases show it. */
function unready(
  signers: readonly string[] | undefined,
  pods: Partial<Deployment> = { lacksOnlyReadiness: true },
): Partial<InstallationFacts> {
  assert.ok('value' in installed.deployments);
  const why = 'pod x: ContainersNotReady: containers with unready status: [signer]';
  const value = installed.deployments.value.map((each) =>
    each.component === 'signer' ? { ...each, available: 0, why, ...pods } : each,
  );
  const leases = { value: [...leasesWithout('signer'), lacking(signers)] };
  return { signers: both, deployments: { value }, leases };
}

test('a ClusterSigner in no role is one line, and replicas that lack its names follow', () => {
  const found = allOf(unready([unlisted.signer.metadata.name]));
  const lines = printed(found);
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(
    lines[0] ?? '',
    /signers-listed: clustersigner\/\S+: no role names example\.com\/new/,
  );
  assert.match(reportText(reportOf(found)), /4 more findings follow from this/);
});

for (const [what, facts] of [
  ['lack other rights', unready(undefined)],
  ['end again and again', unready([unlisted.signer.metadata.name], {})],
] as const)
  test(`replicas that ${what} do not follow from an unlisted signer`, () => {
    const replicas = allOf(facts).filter(
      ({ id, severity }) => id === 'replicas-available' && severity !== 'ok',
    );
    assert.deepEqual(
      replicas.map(({ causedBy }) => causedBy),
      [undefined],
    );
  });

for (const [what, ready, says] of [
  ['Ready', READY, true],
  ['not Ready', UNREADY, false],
] as const) {
  test(`an unlisted ClusterSigner beside one that is ${what}: the finding says what is served`, () => {
    const value = signersOf(state({ conditions: [ready] }), unlisted);
    const [found] = findingsOf('signers-listed', { installed: { signers: { value } } });
    assert.equal(/the other signers are served/.test(found?.why ?? ''), says, found?.why);
  });
}

test('a ClusterSigner that no role names is no fault of roles or policies', () => {
  for (const id of ['roles-complete', 'policies-equal'] as const) {
    const found = findingsOf(id, { installed: { signers: both } });
    assert.deepEqual(
      found.map(({ severity }) => severity),
      ['ok'],
      id,
    );
  }
});

test('a grant on a domain names each of its signers (KEP-3257: example.com/*)', () => {
  assert.ok('value' in installed.roles);
  const rule = {
    apiGroups: ['certificates.k8s.io'],
    resources: ['signers'],
    verbs: ['sign'],
    resourceNames: ['example.com/*'],
  };
  const roles = { value: new Map([...installed.roles.value, ['signer', [rule]]]) };
  const found = findingsOf('signers-listed', { installed: { signers: both, roles } });
  assert.equal(found[0]?.severity, 'ok');
});

const webhook: Webhook = {
  configuration: 'validatingwebhookconfiguration/x',
  name: 'x.example.com',
  service: 'a/b',
  rules: [{ apiGroups: ['certificates.k8s.io'], resources: ['*'] }],
};

test('a webhook that fails closed is an error once no server stands behind it', () => {
  const severities = [undefined, true, false].map((served) => {
    const value = [served === undefined ? webhook : { ...webhook, served }];
    return findingsOf('foreign-webhooks', { kubernetes: { webhooks: { value } } })[0]?.severity;
  });
  assert.deepEqual(severities, ['warning', 'warning', 'error']);
});

test('the advice about a webhook is to change it, and leaves the others of its owner', () => {
  for (const served of [true, false]) {
    const webhooks = { value: [{ ...webhook, served }] };
    const [{ remediation = '' } = {}] = findingsOf('foreign-webhooks', {
      kubernetes: { webhooks },
    });
    assert.match(remediation, /certificates\.k8s\.io, coordination\.k8s\.io and countersign\.dev/);
    assert.match(remediation, /: kubectl edit validatingwebhookconfiguration x$/);
  }
});

test('a webhook for all resources of a group is not said to block those of others', () => {
  const webhooks = { value: [webhook] };
  const [found] = findingsOf('foreign-webhooks', { kubernetes: { webhooks } });
  assert.match(found?.why ?? '', /rejects writes of all resources of certificates\.k8s\.io$/);
});

test('an APIService that is not Available stops the deletion of namespaces: an error', () => {
  const name = 'v1alpha1.ledger.countersign.dev';
  const apiServices = { value: [{ name, available: false, why: 'MissingEndpoints: none' }] };
  const found = findingsOf('api-services-available', { installed: { apiServices } });
  assert.match(lines(found)[0] ?? '', /^error apiservice\/\S+ it is not Available \(MissingEndp/);
  assert.match(found[0]?.remediation ?? '', /describe deployment countersign-ledger/);
  assert.ok('value' in installed.deployments);
  const value = installed.deployments.value.filter(({ component }) => component !== 'ledger');
  const removed = findingsOf('api-services-available', {
    installed: { apiServices, deployments: { value } },
  });
  assert.equal(removed[0]?.remediation, `kubectl delete apiservice ${name}`);
});

test('a CA Secret that is unusable is an error: the next restart stops issuance', () => {
  const condition = { type: 'Degraded', status: 'True', reason: 'SecretUnusable', message: 'bad' };
  const signers = { value: signersOf(state({ conditions: [condition as never] })) };
  const [found] = findingsOf('ca-usable', { installed: { signers } });
  assert.equal(found?.severity, 'error');
  assert.match(found.remediation ?? '', /kubectl -n countersign-keys delete secret workload-ca$/);
  assert.equal(findingsOf('rotation-on-time', { installed: { signers } })[0]?.severity, 'ok');
});

test('an unusable Secret of a CA below an upstream CA is not to be deleted', () => {
  const conditions = [
    { type: 'Degraded', status: 'True', reason: 'SecretUnusable', message: 'bad' } as const,
  ];
  const manual = { anchor: 'Issuer', trustEverythingBelow: false } as const;
  const managed = { upstream: { manual } };
  const signers = { value: signersOf(state({ conditions, managed })) };
  const [{ remediation = '' } = {}] = findingsOf('ca-usable', { installed: { signers } });
  assert.match(remediation, /^do not delete it, .*: countersign authority show workload$/);
  assert.doesNotMatch(remediation, /kubectl/);
});

test('an unusable CA Secret names the CA in memory only while it may sign', () => {
  const ready: Condition = { type: 'Ready', status: 'True', reason: 'Checked', message: '' };
  const degraded = { ...ready, type: 'Degraded', reason: 'SecretUnusable' };
  const whyOf = (a: number, by: Condition = ready): string | undefined => {
    const signer = state({ served: { a, b: 60 }, conditions: [by, degraded] });
    const installed = { signers: { value: signersOf(signer) } };
    return findingsOf('ca-usable', { installed })[0]?.why;
  };
  assert.match(whyOf(60) ?? '', /components sign with the CA that they read before/);
  assert.doesNotMatch(whyOf(4) ?? '', /components sign/);
  const lost: Condition = { ...ready, status: 'False', reason: 'AuthorityUnavailable' };
  assert.doesNotMatch(whyOf(60, lost) ?? '', /components sign/);
});

test('reports a component scaled to 0, with the command that scales it up', () => {
  assert.ok('value' in installed.deployments);
  const deployments = {
    value: installed.deployments.value.map((each) =>
      each.component === 'signer' ? { ...each, wanted: 0, available: 0 } : each,
    ),
  };
  const leases = { value: leasesWithout('signer') };
  const [found] = findingsOf('components-running', { installed: { deployments, leases } });
  assert.match(found?.why ?? '', /^it is scaled to 0/);
  assert.equal(
    found?.remediation,
    'kubectl -n countersign-system scale deployment countersign-signer --replicas=2',
  );
});

test('reports a deleted Deployment beside others, with the command that restores it', () => {
  assert.ok('value' in installed.deployments);
  const value = installed.deployments.value.filter(({ component }) => component !== 'signer');
  const gone = { deployments: { value }, leases: { value: leasesWithout('signer') } };
  for (const [installer, command] of [
    [{ kind: 'helm', release: 'pki', namespace: 'sys' }, /^helm upgrade pki deploy\/chart /],
    [{ kind: 'operator' }, /^the operator puts it back by itself/],
    [{ kind: 'install' }, /^countersign install --values values\.yaml --force-conflicts$/],
    [{ kind: 'manifests' }, /^countersign manifests --values values\.yaml \| kubectl apply -f - /],
  ] as const) {
    const [found] = findingsOf('components-running', { installed: { ...gone, installer } });
    assert.equal(found?.subject, 'deployment/countersign-signer');
    assert.match(found.why, /^it does not exist, so that no replica of signer holds a Lease/);
    assert.match(found.remediation ?? '', command);
  }
});

test('the Lease of a component that was removed in good order is no fault', () => {
  assert.ok('value' in installed.deployments);
  const value = installed.deployments.value.filter(({ component }) => component !== 'notifier');
  const leases = { value: [...leasesWithout('notifier'), lease('notifier', {}, 3_600_000)] };
  const found = findingsOf('components-running', {
    installed: { deployments: { value }, leases },
  });
  assert.deepEqual(
    lines(found).join(),
    lines(
      findingsOf('components-running', {
        installed: { deployments: { value }, leases: { value: leasesWithout('notifier') } },
      }),
    ).join(),
  );
  assert.equal(found[0]?.severity, 'ok');
});

test('many findings with one remedy are five lines and a number', () => {
  const found = allOf({ policies: { value: new Map() } });
  const count = found.filter(({ id, severity }) => id === 'policies-equal' && severity === 'error');
  assert.ok(count.length > 6);
  assert.equal(printed(found).length, 5);
  assert.match(reportText(reportOf(found)), new RegExp(`and ${count.length - 5} more like these`));
});
