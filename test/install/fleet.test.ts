// SPDX-License-Identifier: Apache-2.0
/** What a hub gives a member, and what the Secret of a member has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Environment } from '@marcbachmann/cel-js';
import { memberRequestName, memberRequestNames } from '#api/signer/upstream-hub.ts';
import { applyMember } from '#cli/commands/fleet/join.ts';
import { removeMember } from '#cli/commands/fleet/leave.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import { memberDefinition } from '#install/fleet/member-definition.ts';
import { memberObjects, type Member } from '#install/fleet/member-objects.ts';
import { fleetObjects } from '#install/fleet/member-policies.ts';
import { memberSecret } from '#install/fleet/member-secret.ts';
import type { Manifest } from '#install/roles.ts';
import { recordedClient, type RecordedClient } from '../support/kube/recorded-client.ts';

const MEMBER: Member = {
  cluster: 'prod',
  namespace: 'countersign-fleet',
  signerName: 'fleet.example.com/members',
  bundle: 'root',
  tokenSeconds: 3_600,
};

test('a member may create and read its requests, renew its token, and report', () => {
  const roles = memberObjects(MEMBER).filter(({ kind }) => /Role$/.test(String(kind)));
  const rules = roles.flatMap(({ rules: each }) => each as readonly PermissionRule[]);
  const shown = rules.map(({ verbs, resources, resourceNames }) => [
    verbs.join(),
    resources.join(),
    resourceNames?.length === 32 ? 'its requests' : resourceNames?.join(),
  ]);
  assert.deepEqual(shown, [
    ['create', 'certificatesigningrequests', undefined],
    ['get', 'certificatesigningrequests', 'its requests'],
    ['get', 'clustertrustbundles', 'fleet.example.com:members:root'],
    ['request', 'signers', 'fleet.example.com/members'],
    ['create', 'serviceaccounts/token', 'prod'],
    ['patch', 'fleetmembers/status', 'prod'],
  ]);
});

test('the names of the requests of two members never meet', () => {
  const accounts = ['a', 'a-0', 'b', 'a-b'].flatMap((cluster) =>
    ['a', '0-a', 'b', 'b-a'].map((namespace) => ({ cluster, namespace })),
  );
  const names = accounts.flatMap(memberRequestNames);
  assert.equal(names.length, 16 * 32);
  assert.equal(new Set(names).size, names.length);
  assert.ok(memberRequestNames(MEMBER).includes(memberRequestName(MEMBER, 255)));
  const longest = { cluster: 'c'.repeat(63), namespace: 'n'.repeat(63) };
  assert.ok(memberRequestNames(longest).every((name) => name.length <= 253));
});

/** Reports whether the policy of the fleet lets this member create a request of this name. */
function mayCreate({ cluster, namespace, signerName }: Member, name: string): boolean {
  const username = `system:serviceaccount:${namespace}:${cluster}`;
  const context = {
    object: { metadata: { name }, spec: { signerName, usages: ['cert sign'] } },
    request: { userInfo: { username } },
  };
  const cel = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true });
  return policiesOf(fleetObjects({ namespace, signerName }))
    .flatMap(({ spec }) => spec.validations)
    .every(({ expression }) => cel.evaluate(expression, context) === true);
}

test('a member may create requests of its own names, and of no member of any fleet', () => {
  const members = [MEMBER, { ...MEMBER, namespace: 'other' }, { ...MEMBER, cluster: 'prod-a' }];
  const shown = members.map((member) =>
    members.map(
      (each) => memberRequestNames(each).filter((name) => mayCreate(member, name)).length,
    ),
  );
  assert.deepEqual(shown, [
    [32, 0, 0],
    [0, 32, 0],
    [0, 0, 32],
  ]);
});

test('every right of a member is bound to its own account', () => {
  const bindings = memberObjects(MEMBER).filter(({ kind }) => String(kind).endsWith('RoleBinding'));
  assert.equal(bindings.length, 2);
  for (const { subjects } of bindings) {
    assert.deepEqual(subjects, [
      { kind: 'ServiceAccount', name: 'prod', namespace: 'countersign-fleet' },
    ]);
  }
});

test('no name of a fleet in one namespace is that of a fleet in another', () => {
  const namesIn = (namespace: string): readonly string[] =>
    [...fleetObjects({ ...MEMBER, namespace }), ...memberObjects({ ...MEMBER, namespace })].map(
      nameOf,
    );
  const long = namesIn('n'.repeat(63));
  const other = new Set(namesIn('other'));
  assert.deepEqual(
    long.filter((name) => other.has(name)),
    [],
  );
  assert.ok(long.every((name) => name.length <= 253));
});

/** The kind, the namespace and the name: what makes an object another one. */
function nameOf({ kind, metadata }: Manifest): string {
  const { name, namespace = '' } = metadata as { readonly name: string; namespace?: string };
  return [kind, namespace, name].join('/');
}

test('two members never share a role, in whichever namespaces', () => {
  const members = [
    { ...MEMBER, cluster: 'a-b', namespace: 'c' },
    { ...MEMBER, cluster: 'a', namespace: 'b-c' },
  ];
  const names = members.flatMap((member) => memberObjects(member).map(nameOf));
  assert.equal(new Set(names).size, names.length);
});

/** A hub whose Namespace of the fleet has these annotations. Without them, it does not exist. */
function hubWith(annotations?: Readonly<Record<string, string>>): RecordedClient {
  const client = recordedClient();
  client.answer(({ method, path }) => {
    if (method !== 'GET') return {};
    if (annotations === undefined) throw new KubeError({ status: 404, what: path });
    return { metadata: { name: MEMBER.namespace, annotations, resourceVersion: '7' } };
  });
  return client;
}

test('a namespace with the fleet of another signer is refused, and nothing is applied', async () => {
  const client = hubWith({ 'countersign.dev/fleet-signer': 'fleet.example.com/others' });
  await assert.rejects(applyMember(client, MEMBER), {
    code: 'USAGE',
    message:
      'Namespace countersign-fleet has the members of fleet.example.com/others; choose another --fleet-namespace',
  });
  assert.deepEqual(
    client.requests.map(({ method }) => method),
    ['GET'],
  );
});

for (const [what, annotations] of [
  ['does not exist', undefined],
  ['has no signer yet', {}],
  ['has the same signer', { 'countersign.dev/fleet-signer': MEMBER.signerName }],
] as const) {
  test(`a namespace that ${what} gets the name of the signer first`, async () => {
    const client = hubWith(annotations);
    await applyMember(client, MEMBER);
    const [read, first] = client.requests;
    assert.equal(read?.method, 'GET');
    const { metadata } = first?.body as { readonly metadata: Record<string, unknown> };
    assert.deepEqual(metadata['annotations'], {
      'countersign.dev/fleet-signer': MEMBER.signerName,
    });
    // Of two commands for different signers at the same time, the API server refuses one.
    const path = '/api/v1/namespaces';
    if (annotations === undefined) {
      assert.deepEqual([first?.method, first?.path], ['POST', path]);
    } else {
      assert.deepEqual([first?.method, first?.path], ['PATCH', `${path}/countersign-fleet`]);
      assert.equal(metadata['resourceVersion'], '7');
    }
  });
}

test('a policy holds the requests of every account of the namespace', () => {
  const [policy, ...others] = policiesOf(fleetObjects(MEMBER));
  assert.deepEqual(others, []);
  const text = JSON.stringify(policy);
  assert.match(text, /"failurePolicy":"Fail"/);
  assert.match(text, /startsWith\('system:serviceaccount:countersign-fleet:'\)/);
});

test('each member has a policy of its own for the life of its tokens', () => {
  const members = [MEMBER, { ...MEMBER, cluster: 'dev', tokenSeconds: 600 }];
  const policies = members.flatMap((member) => policiesOf(memberObjects(member)));
  const shown = policies.map(({ metadata, spec }) => [
    metadata.name,
    spec.matchConditions.map(({ expression }) => expression).join(),
    spec.validations.map(({ expression }) => expression.replace(/.* <= /, '')).join(),
    spec.failurePolicy,
  ]);
  const user = (cluster: string): string =>
    `request.userInfo.username == 'system:serviceaccount:countersign-fleet:${cluster}'`;
  const name = 'countersign-fleet-member-tokens';
  assert.deepEqual(shown, [
    [`${name}.prod.countersign-fleet`, user('prod'), '3600', 'Fail'],
    [`${name}.dev.countersign-fleet`, user('dev'), '600', 'Fail'],
  ]);
});

test('what leave deletes is all that join made for the member, its account first', async () => {
  const client = recordedClient();
  const { cluster, namespace } = MEMBER;
  await removeMember(client, { cluster, namespace });
  const deleted = client.requests.map(({ method, path }) => [method, path]);
  const applied = hubWith();
  await applyMember(applied, MEMBER);
  // The kind stays: other members have it.
  const own = applied.requests
    .map(({ path }) => path)
    .slice(1 + fleetObjects(MEMBER).length)
    .filter((path) => !path.includes('/customresourcedefinitions/'));
  assert.deepEqual(
    deleted,
    own.map((path) => ['DELETE', path]),
  );
  assert.match(own[0] ?? '', /\/serviceaccounts\/prod$/);
  assert.match(own.at(-1) ?? '', /\/fleetmembers\/prod$/);
  assert.equal(own.filter((path) => path.includes('validatingadmissionpolic')).length, 2);
});

interface Policy {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly failurePolicy: string;
    readonly matchConditions: readonly { readonly expression: string }[];
    readonly validations: readonly { readonly expression: string }[];
  };
}

function policiesOf(objects: readonly Manifest[]): readonly Policy[] {
  const policies = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
  return policies as unknown as readonly Policy[];
}

test('the Secret of a member has three keys, and the consent of its owner', () => {
  const secret = { namespace: 'countersign-keys', name: 'workload-ca' };
  const credential = { server: 'https://hub', ca: 'CA', token: 'T' };
  const { metadata, stringData } = memberSecret(
    { signerName: 'example.com/workload', secret },
    credential,
  ) as { metadata: { name: string; annotations: object }; stringData: object };
  assert.equal(metadata.name, 'workload-ca-hub');
  assert.deepEqual(metadata.annotations, { 'countersign.dev/signer-name': 'example.com/workload' });
  assert.deepEqual(stringData, { server: 'https://hub', 'ca.crt': 'CA', token: 'T' });
});

test('the object of a new kind is applied again until the kind is served', async () => {
  const client = hubWith();
  let refusals = 2;
  client.answer(({ method, path }) => {
    const isReport = path.includes('/fleetmembers/');
    if (method === 'GET') throw new KubeError({ status: 404, what: path });
    if (isReport && refusals-- > 0) throw new KubeError({ status: 404, what: path });
    return {};
  });
  await applyMember(client, MEMBER);
  const reports = client.requests.filter(({ path }) => path.includes('/fleetmembers/'));
  assert.equal(reports.length, 3);
  assert.deepEqual((reports[0]?.body as { readonly spec: object }).spec, {
    signerName: MEMBER.signerName,
  });
});

for (const [what, signer, isRefused] of [
  ['the same signer', MEMBER.signerName, false],
  ['another signer', 'fleet.example.com/others', true],
] as const) {
  test(`of two first joins, the later one for ${what} ${isRefused ? 'fails' : 'goes on'}`, async () => {
    const client = recordedClient();
    const annotations = { 'countersign.dev/fleet-signer': signer };
    client.answer(({ method, path }) => {
      const isFirst = client.requests.length === 1;
      if (method === 'GET' && isFirst) throw new KubeError({ status: 404, what: path });
      if (method === 'GET') return { metadata: { name: MEMBER.namespace, annotations } };
      if (method === 'POST') {
        throw new KubeError({ status: 409, what: path, body: { reason: 'AlreadyExists' } });
      }
      return {};
    });
    const joined = applyMember(client, MEMBER);
    if (isRefused) await assert.rejects(joined, { code: 'USAGE' });
    else await joined;
  });
}

/** Returns the paths of strings of a schema that have no limit. */
function unboundedIn(schema: unknown, path: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const fields: Readonly<Record<string, unknown>> = { ...schema };
  const isText = fields['type'] === 'string' && fields['maxLength'] === undefined;
  const isList = fields['type'] === 'array' && fields['maxItems'] === undefined;
  const inner = Object.entries(fields).flatMap(([key, value]) =>
    unboundedIn(value, `${path}.${key}`),
  );
  return isText || isList ? [path, ...inner] : inner;
}

test('every text and list that a member can write has a limit', () => {
  const { spec } = memberDefinition() as unknown as {
    readonly spec: { readonly versions: readonly { readonly schema: object }[] };
  };
  const [version] = spec.versions;
  const all = JSON.parse(JSON.stringify(version?.schema)) as {
    readonly openAPIV3Schema: { readonly properties: { readonly status: object } };
  };
  const { status } = all.openAPIV3Schema.properties;
  assert.deepEqual(unboundedIn(status, 'status'), []);
});
