// SPDX-License-Identifier: Apache-2.0
/**
 * Each write that a component's roles allow is held by a policy, or its exemption has a reason
 * here.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { DEMO } from '../../build/demo-installation.ts';
import { COMPONENTS } from '#install/component-list.ts';
import type { PermissionNames } from '#component/rbac/permission-names.ts';
import { EXEMPT, EXEMPT_ROLES, WITHOUT_METADATA } from './exempt-writes.ts';
import { printedAdmission } from '../support/install/printed-admission.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * An installation with everything that can be switched on; the compiler asks for what comes later.
 */
const EVERYTHING: Required<PermissionNames> = {
  signerNames: ['example.com/a'],
  signerDomains: ['example.com'],
  bundles: ['example.com:a:primary'],
  secrets: [{ namespace: 'keys', name: 'ca' }],
  namespacedSigners: true,
  signerSecrets: [{ namespace: 'team', name: 'ca' }],
  solverSecrets: [{ namespace: 'dns', name: 'zone' }],
  dnsWebhooks: [{ group: 'dns.example.com', solver: 'zone' }],
  refreshSecrets: [{ namespace: 'team', name: 'leaf' }],
  caBundles: [
    { resource: 'apiservices', name: 'v1.a.example.com' },
    { resource: 'customresourcedefinitions', name: 'as.a.example.com' },
    { resource: 'mutatingwebhookconfigurations', name: 'a' },
    { resource: 'validatingwebhookconfigurations', name: 'a' },
  ],
  monitoredSecrets: [{ namespace: 'team', name: 'leaf' }],
  accountKeys: [{ namespace: 'keys', name: 'account' }],
  renewsCertificates: true,
  leases: { namespace: DEMO.namespace, secretNamespaces: ['keys'] },
  ownTls: { namespace: DEMO.namespace, components: [...COMPONENTS.keys()] },
  podServices: true,
  federated: ['partner.example'],
  ledgerFacts: true,
  aggregatedApi: true,
  notifiedPods: true,
  crls: true,
  upstreamIssuers: ['pki/ClusterIssuer.cert-manager.io/corporate'],
};

const OPERATIONS: Readonly<Record<string, string>> = {
  create: 'CREATE',
  update: 'UPDATE',
  patch: 'UPDATE',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};
const READS = ['get', 'list', 'watch'];
/** Verbs that the API server asks for, and by which nothing is written. */
const ASKED_FOR = ['approve', 'attest', 'sign'];

interface Write {
  readonly component: string;
  readonly group: string;
  readonly resource: string;
  readonly operation: string;
}

const textOf = ({ component, group, resource, operation }: Write): string =>
  `${component} ${operation} ${group}/${resource}`;

/** Every write that the roles of an installation with everything allow. */
const WRITES: readonly Write[] = [...COMPONENTS].flatMap(([component, { permissions }]) =>
  permissions(EVERYTHING).flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs
          .filter((verb) => ![...READS, ...ASKED_FOR].includes(verb))
          .map((verb) => ({ component, group, resource, operation: OPERATIONS[verb] ?? verb })),
      ),
    ),
  ),
);

/** Of a ValidatingAdmissionPolicy, as far as it is read. */
interface Spec {
  readonly failurePolicy: string;
  readonly matchConstraints: {
    readonly matchPolicy: string;
    readonly namespaceSelector: object;
    readonly objectSelector: object;
    readonly resourceRules: readonly Rule[];
  };
  readonly matchConditions?: readonly { readonly expression: string }[];
  readonly validations: readonly { readonly expression: string }[];
}

/** Match constraints that leave out no object. */
const EVERYWHERE = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };

interface Rule {
  readonly scope: string;
  readonly apiGroups: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
}

/** Whether the API server rejects what it does not admit, wherever that is. */
function isEnforced({ policy, binding }: Printed): boolean {
  const { failurePolicy, matchConstraints } = policy.spec as unknown as Spec;
  const { validationActions, ...narrowing } = binding.spec as Readonly<Record<string, unknown>>;
  const { resourceRules, ...around } = matchConstraints;
  return (
    failurePolicy === 'Fail' &&
    isDeepStrictEqual(around, EVERYWHERE) &&
    resourceRules.every(({ scope }) => scope === '*') &&
    Object.keys(narrowing).join() === 'policyName' &&
    Array.isArray(validationActions) &&
    validationActions.includes('Deny')
  );
}

/** Whether one of its rules matches the write. */
function matches({ matchConstraints }: Spec, write: Write): boolean {
  return matchConstraints.resourceRules.some(
    ({ apiGroups, operations, resources }) =>
      apiGroups.includes(write.group) &&
      operations.includes(write.operation) &&
      resources.includes(write.resource),
  );
}

const ACCOUNTS = `system:serviceaccount:${DEMO.namespace}:countersign-`;

/**
 * Whether a policy is for writes of the component: one that is for everybody else, or that admits
 * whatever the component writes, holds nothing of it.
 */
function isFor({ matchConditions = [], validations }: Spec, component: string): boolean {
  const is = `request.userInfo.username == '${ACCOUNTS}${component}'`;
  const conditions = matchConditions.map(({ expression }) => expression);
  if (conditions.some((each) => each.includes(`!(${is})`))) return false;
  const expressions = validations.map(({ expression }) => expression);
  if (expressions.every((each) => each === is || each.startsWith(`${is}\n|| `))) return false;
  const named = [...conditions, ...expressions].some((each) =>
    [`'${ACCOUNTS}${component}'`, `'${ACCOUNTS}'`].some((account) => each.includes(account)),
  );
  return named || conditions.length === 0;
}

/** The policies that hold more of a write than finalizers and owners. */
const POLICIES = printedAdmission();
type Printed = typeof POLICIES extends ReadonlyMap<string, infer T> ? T : never;
const COMPONENT_METADATA = 'countersign-component-metadata';

const held = (write: Write): readonly string[] =>
  [...POLICIES].flatMap(([name, { policy, binding }]) =>
    name !== COMPONENT_METADATA &&
    isEnforced({ policy, binding }) &&
    matches(policy.spec as unknown as Spec, write) &&
    isFor(policy.spec as unknown as Spec, write.component)
      ? [name]
      : [],
  );

test('a policy holds each write of each component, or an exemption says why none does', () => {
  const open = WRITES.filter((write) => held(write).length === 0).map(textOf);
  assert.deepEqual([...new Set(open)].sort(), Object.keys(EXEMPT).sort());
});

test('a policy or an exemption covers finalizers and owners on all writable kinds', () => {
  const written = WRITES.filter(({ operation }) => ['CREATE', 'UPDATE'].includes(operation)).map(
    ({ group, resource }) => `${group}/${resource}`,
  );
  const printed = POLICIES.get(COMPONENT_METADATA) ?? assert.fail(COMPONENT_METADATA);
  assert.ok(isEnforced(printed));
  const { policy } = printed;
  const { resourceRules } = (policy.spec as unknown as Spec).matchConstraints;
  const inPolicy = resourceRules.flatMap(({ apiGroups: [group = ''], resources }) =>
    resources.map((each) => `${group}/${each}`),
  );
  assert.deepEqual(
    [...new Set(written)].sort(),
    [...inPolicy, ...Object.keys(WITHOUT_METADATA)].sort(),
  );
});

test('each shipped role that allows a write belongs to a component or is exempt', () => {
  const files = globSync('{rbac,deploy/operator}/*.yaml', { cwd: ROOT });
  const roles = files
    .flatMap((file) => parseAllDocuments(readFileSync(join(ROOT, file), 'utf8')))
    .map((document) => document.toJS() as ShippedRole)
    .filter(({ kind }) => ['ClusterRole', 'Role'].includes(kind));
  assert.ok(roles.length > COMPONENTS.size);
  const writing = roles.filter(({ rules }) =>
    rules.some(({ verbs }) => verbs.some((verb) => ![...READS, ...ASKED_FOR].includes(verb))),
  );
  const components: ReadonlySet<string> = new Set(COMPONENTS.keys());
  const others = writing
    .map(({ metadata: { name } }) => name)
    .filter((name) => !components.has(name.replace(/^countersign-/, '')));
  assert.deepEqual([...new Set(others)].sort(), Object.keys(EXEMPT_ROLES).sort());
});

interface ShippedRole {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules: readonly { readonly verbs: readonly string[] }[];
}

test('the components of which one replica leads are those whose roles name its Lease', () => {
  const named = [...COMPONENTS].flatMap(([component, { permissions }]) =>
    permissions(EVERYTHING).some(
      ({ resources, resourceNames = [] }) =>
        resources.includes('leases') && resourceNames.includes(`countersign-${component}.keys`),
    )
      ? [component]
      : [],
  );
  const { policy } = POLICIES.get('countersign-leases') ?? assert.fail('no policy for Leases');
  const [, list = ''] = /in \[([^\]]*)\] \? '\.' : '-'/.exec(JSON.stringify(policy.spec)) ?? [];
  const leading = list.split(', ').map((each) => each.slice(1, -1));
  assert.deepEqual([...named, 'operator'].sort(), leading.sort());
});
