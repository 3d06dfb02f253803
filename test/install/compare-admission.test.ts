// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { COMPONENTS } from '#install/component-list.ts';
import { admissionDifferences } from '#install/admission/compare.ts';
import { admissionRisk } from '#install/admission/risks.ts';
import { printedAdmission } from '../support/install/printed-admission.ts';
import { condition, expressionOf, match, rewritten, type Spec } from './changed-spec.ts';

const PODS = 'countersign-pod-certificate-requests';
const NAMES = ['example.com/a', 'example.com/b'];
const SECRETS = 'countersign-keys';
const CONTEXT = { namespace: DEMO.namespace, secretNamespace: SECRETS, signerNames: NAMES };
const PRINTED: Parameters<typeof printedAdmission>[0] = { signers: NAMES, bundles: [] };

function printedPolicy(name: string, installation = PRINTED) {
  return printedAdmission(installation).get(name) ?? assert.fail(name);
}

/** The differences of a printed policy after `change`. */
function afterChange(
  name: string,
  change: (spec: Spec) => Spec,
  installation = PRINTED,
): readonly string[] {
  const { policy, binding } = printedPolicy(name, installation);
  const live = { policy: { spec: change(policy.spec) }, binding };
  return admissionDifferences(name, live, CONTEXT);
}

for (const namespacedSigners of [false, true]) {
  for (const namespace of [DEMO.namespace, undefined]) {
    const where = namespace ?? 'a namespace that is not known';
    test(`no difference: ${where}, ${namespacedSigners ? 'with' : 'without'} Signers`, () => {
      const derived = namespacedSigners ? ['signers.countersign.dev/*'] : [];
      const secretNamespace = namespace && SECRETS;
      const context = { namespace, secretNamespace, signerNames: [...DEMO.signers, ...derived] };
      const printed = printedAdmission({ namespacedSigners });
      assert.equal(printed.size, 42);
      for (const [name, live] of printed) {
        assert.deepEqual(admissionDifferences(name, live, context), []);
      }
    });
  }
}

test('prints every policy that a component reads, with the risk of its absence', () => {
  const printed = new Set(printedAdmission().keys());
  const read = [...COMPONENTS.values()]
    .flatMap(({ permissions }) =>
      permissions({
        ...DEMO,
        signerNames: DEMO.signers,
        namespacedSigners: true,
        renewsCertificates: true,
        crls: true,
        aggregatedApi: true,
        leases: { namespace: DEMO.namespace, secretNamespaces: ['countersign-keys'] },
      }),
    )
    .filter(({ resources }) => resources.includes('validatingadmissionpolicies'))
    .flatMap(({ resourceNames = [] }) => resourceNames);
  assert.deepEqual(new Set(read), printed);
  assert.equal(
    new Set([...printed].map(admissionRisk)).has('the objects that it guards are unprotected'),
    false,
  );
});

test('what the API server fills in is no difference', () => {
  const defaults = (spec: Spec): Spec => {
    const { resourceRules } = spec['matchConstraints'] as { resourceRules: readonly Spec[] };
    return {
      ...spec,
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: resourceRules.map((each) => ({ ...each, scope: '*' })),
      },
    };
  };
  assert.deepEqual(afterChange(PODS, defaults), []);
  const { failurePolicy: _default, ...rest } = printedPolicy(PODS).policy.spec as Spec;
  assert.deepEqual(
    afterChange(PODS, () => rest),
    [],
  );
});

const weaker: [what: string, change: (spec: Spec) => Spec, says: RegExp][] = [
  [
    'its condition is inverted',
    (spec) => condition(spec, `!(${expressionOf(spec, 'matchConditions')})`),
    /: spec\.matchConditions\[0\]\.expression differs$/,
  ],
  [
    'its condition has one more term',
    (spec) => condition(spec, `${expressionOf(spec, 'matchConditions')} && false`),
    /: spec\.matchConditions\[0\]\.expression differs$/,
  ],
  [
    'a quote is hidden in its list',
    (spec) =>
      condition(spec, "object.spec.signerName in ['x\\', 'example.com/a', 'example.com/b']"),
    /: spec\.matchConditions\[0\]\.expression differs$/,
  ],
  [
    'a second condition never holds',
    (spec) => ({
      ...spec,
      matchConditions: [
        ...(spec['matchConditions'] as object[]),
        { name: 'never', expression: 'false' },
      ],
    }),
    /: spec\.matchConditions\[1\] is not what countersign rbac prints$/,
  ],
  [
    'its validation is true',
    (spec) => ({ ...spec, validations: [{ expression: 'true' }] }),
    /: spec\.validations\[0\]\.expression differs$/,
  ],
  [
    'it looks at updates only',
    (spec) => {
      const { resourceRules } = spec['matchConstraints'] as { resourceRules: readonly Spec[] };
      return match(spec, {
        resourceRules: resourceRules.map((each) => ({ ...each, operations: ['UPDATE'] })),
      });
    },
    /: spec\.matchConstraints\.resourceRules\[0\]\.operations\[0\] differs$/,
  ],
  [
    'it fails open',
    (spec) => ({ ...spec, failurePolicy: 'Ignore' }),
    /: spec\.failurePolicy is not what/,
  ],
  ['it is empty', () => ({}), /: spec\.validations is missing$/],
];

const narrowing: Spec = {
  namespaceSelector: { matchLabels: { no: 'namespace' } },
  objectSelector: { matchLabels: { no: 'object' } },
  excludeResourceRules: [{ apiGroups: ['*'], resources: ['*'] }],
  matchPolicy: 'Exact',
};

for (const [field, value] of Object.entries(narrowing)) {
  test(`a policy differs when it matches less, by ${field}`, () => {
    assert.deepEqual(
      afterChange(PODS, (spec) => match(spec, { [field]: value })),
      [
        `ValidatingAdmissionPolicy ${PODS}: spec.matchConstraints.${field} is not what countersign rbac prints`,
      ],
    );
  });
}

for (const [what, change, says] of weaker) {
  test(`a policy differs when ${what}`, () => {
    const differences = afterChange(PODS, change);
    assert.ok(
      differences.some((each) => says.test(each)),
      differences.join('\n'),
    );
    for (const each of differences) assert.ok(each.startsWith(`ValidatingAdmissionPolicy ${PODS}`));
  });
}

test('each printed policy differs when its validations are true', () => {
  for (const name of printedAdmission().keys()) {
    const change = rewritten(() => 'true');
    assert.notDeepEqual(afterChange(name, change), [], name);
  }
});

test('a served signer name that the policy does not list is a difference', () => {
  const live = printedPolicy(PODS, { signers: ['example.com/a'], bundles: [] });
  assert.deepEqual(admissionDifferences(PODS, live, CONTEXT), [
    `ValidatingAdmissionPolicy ${PODS} does not name example.com/b, which is served`,
  ]);
});

test('the names of Signers are matched where the policy is printed for them', () => {
  const context = { ...CONTEXT, signerNames: [...NAMES, 'signers.countersign.dev/*'] };
  const printed = (namespacedSigners: boolean) =>
    printedPolicy(PODS, { ...PRINTED, namespacedSigners });
  assert.deepEqual(admissionDifferences(PODS, printed(true), context), []);
  assert.deepEqual(admissionDifferences(PODS, printed(false), context), [
    `ValidatingAdmissionPolicy ${PODS} does not name signers.countersign.dev/*, which is served`,
  ]);
});

test('a policy that trusts the components of another namespace differs', () => {
  const elsewhere = { signers: NAMES, bundles: [], namespace: 'elsewhere' };
  const differing = [...printedAdmission(elsewhere).keys()].filter(
    (name) => afterChange(name, (spec) => spec, elsewhere).length > 0,
  );
  assert.deepEqual(differing, [
    'countersign-cluster-signer-status',
    'countersign-signer-status',
    ...[
      'acme-cluster-signers',
      'acme-signer-status',
      'acme-orders',
      'acme-challenge-status',
      'acme-renewals',
      'external-cluster-signer-status',
    ]
      .concat('attester-bundles')
      .concat('certificate-request-answers', 'acme-answers', 'authority-secrets')
      .concat('authority-certificate-requests', 'authority-api-service')
      .concat(
        'request-metadata',
        'events',
        'federated-bundles',
        'trust-config-maps',
        'trust-ca-bundles',
        'ledger-objects',
        'notifier-objects',
        'acme-ingresses',
        'acme-http-routes',
        'component-metadata',
        'authority-crls',
      )
      .concat('leases', 'leases-deleted')
      .concat('refreshed-workloads', 'refreshed-pods')
      .map((each) => `countersign-${each}`),
  ]);
});

test('more bundles and Secrets are no difference, one beside the components is', () => {
  const more = {
    signers: [...NAMES, 'example.org/c'],
    bundles: ['example.com:a:primary', 'example.org:c:x.y'],
    secrets: [
      { namespace: 'keys-1', name: 'a.b' },
      { namespace: 'keys-2', name: 'c' },
    ],
  };
  for (const name of ['countersign-attester-bundles', 'countersign-authority-secrets']) {
    assert.deepEqual(
      afterChange(name, (spec) => spec, more),
      [],
    );
  }
  const beside = rewritten((expression) =>
    expression.replace("in ['keys-1", `in ['${DEMO.namespace}/token', 'keys-1`),
  );
  assert.deepEqual(afterChange('countersign-authority-secrets', beside, more), [
    'ValidatingAdmissionPolicy countersign-authority-secrets: spec.validations[0].expression differs',
  ]);
  const unlinked = rewritten((expression) =>
    expression.replaceAll("': 'example.org/c'", "': 'example.com/a'"),
  );
  assert.equal(afterChange('countersign-attester-bundles', unlinked, more).length, 1);
});

const bound = printedPolicy(PODS).binding.spec as Spec;
const bindings: [what: string, spec: Spec | undefined, says: string][] = [
  ['is not there', undefined, 'is not installed'],
  ['binds another policy', { ...bound, policyName: 'other' }, 'does not bind this policy'],
  ['only audits', { ...bound, validationActions: ['Audit'] }, 'does not deny'],
  [
    'denies in some namespaces',
    { ...bound, matchResources: { namespaceSelector: { matchLabels: { a: 'b' } } } },
    'does not deny everywhere: spec.matchResources is set',
  ],
  [
    'has a parameter',
    { ...bound, paramRef: { name: 'x' } },
    'does not deny everywhere: spec.paramRef is set',
  ],
];

for (const [what, spec, says] of bindings) {
  test(`a binding that ${what} is a difference`, () => {
    const binding = spec === undefined ? undefined : { spec };
    const { policy } = printedPolicy(PODS);
    assert.deepEqual(admissionDifferences(PODS, { policy, binding }, CONTEXT), [
      `ValidatingAdmissionPolicyBinding ${PODS} ${says}`,
    ]);
  });
}

test('a policy that is not there is one difference', () => {
  assert.deepEqual(admissionDifferences(PODS, { policy: undefined, binding: undefined }, CONTEXT), [
    `ValidatingAdmissionPolicy ${PODS} is not installed`,
  ]);
});
