// SPDX-License-Identifier: Apache-2.0
/** A ClusterSigner that no role names: explain has the finding and the fix of check, once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '#api/request/conditions.ts';
import { explain } from '#diagnose/explain/explain.ts';
import { explanationText } from '#diagnose/explain/text.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { NOW, at, state } from '../../operations/signer-states.ts';
import { recordedClient } from '../../support/kube/recorded-client.ts';
import { findingsOf, signersOf } from '../check/well.ts';

const STORED = { resourceVersion: '1', uid: 'u', creationTimestamp: at(0) };
const FAULT = 'Secret countersign-keys/new-ca is not read yet: 403 Forbidden';
const CONDITIONS: readonly Condition[] = [
  { type: 'Ready', status: 'False', reason: 'AuthorityUnavailable', message: FAULT },
  { type: 'Served', status: 'False', reason: 'MissingPermissions', message: `signer: ${FAULT}` },
  { type: 'Degraded', status: 'True', reason: 'MissingPermissions', message: `it: ${FAULT}` },
];
const NEW = state({ spec: { signerName: 'example.com/new' }, conditions: CONDITIONS }).signer;

/** An approved request to the signer. */
const CSR: object = {
  metadata: { ...STORED, name: NEW.metadata.name },
  spec: { signerName: 'example.com/new', username: 'jane', usages: [], request: '' },
  status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x', message: '' }] },
};
const labelsOf = (component: string): object => ({ 'app.kubernetes.io/component': component });
const labels = labelsOf('signer');
const authority = {
  metadata: { ...STORED, name: 'countersign-authority', labels: labelsOf('authority') },
};
/** Roles that let `authority` create Secrets of CAs, and its Leases. */
const AUTHORITY_ROLES = [
  ['countersign-keys', '', 'secrets'],
  ['pki-system', 'coordination.k8s.io', 'leases'],
].map(([namespace, group, resource]) => ({
  metadata: { ...authority.metadata, namespace },
  rules: [{ apiGroups: [group], resources: [resource], verbs: ['create'] }],
}));
const role = (name: string): object => ({
  metadata: { ...STORED, name: 'countersign-signer', labels },
  rules: [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      verbs: ['sign'],
      resourceNames: [name],
    },
  ],
});

const HELM = {
  annotations: {
    'meta.helm.sh/release-name': 'pki',
    'meta.helm.sh/release-namespace': 'sys',
  },
};
const INSTALL = { managedFields: [{ manager: 'countersign-install', operation: 'Apply' }] };

/** What explain prints where a role names `listed`, and the Deployments have this metadata. */
async function explained(
  listed: string,
  by: object,
  {
    mayRead = true,
    mayGet = true,
    asked = CSR,
    signer = NEW,
    kind = 'signer',
    client = recordedClient(),
  } = {},
): Promise<string> {
  const deployment = { metadata: { ...STORED, name: 'countersign-signer', labels, ...by } };
  const event = {
    metadata: STORED,
    type: 'Warning',
    reason: 'MissingPermissions',
    message: FAULT,
    reportingComponent: 'countersign.dev/authority',
  };
  const lists = new Map<string, readonly object[]>([
    ['clustersigners', [signer]],
    ['clusterroles', [role(listed), authority]],
    ['roles', AUTHORITY_ROLES],
    ['deployments', [deployment]],
    ['events', [event]],
  ]);
  client.answer(({ path }) => {
    const plural = path.replace(/\?.*/, '').split('/').at(-1) ?? '';
    if (path.endsWith(`/certificatesigningrequests/${signer.metadata.name}`)) return asked;
    if (path.endsWith(`/clustersigners/${signer.metadata.name}`) && !mayGet)
      throw new KubeError({ status: 403, what: path, body: {} });
    if (plural === signer.metadata.name) return signer;
    if (path === '/apis/certificates.k8s.io/v1')
      return { resources: [{ name: 'clustertrustbundles', verbs: ['list'] }] };
    if (path.includes('/clustertrustbundles/'))
      throw new KubeError({ status: 404, what: path, body: {} });
    if (plural === 'deployments' && !mayRead)
      throw new KubeError({ status: 403, what: path, body: {} });
    const kind = plural === 'clustersigners' ? 'ClusterSignerList' : 'List';
    return { kind, apiVersion: 'v1', metadata: STORED, items: lists.get(plural) ?? [] };
  });
  const init = { client, clock: () => NOW, propagationSeconds: 600 };
  const subject = { kind, name: signer.metadata.name, namespace: 'default' };
  return explanationText(await explain(init, subject));
}

const count = (text: string, words: string): number => text.split(words).length - 1;

for (const [installer, by, advice] of [
  ['Helm', HELM, /helm upgrade pki deploy\/chart --namespace sys .*--set-json 'signers=\[.*new/],
  ['countersign install', INSTALL, /add the line to signers in values\.yaml.*countersign install/],
] as const) {
  test(`explain of a signer that no role names has the fix of ${installer}, and no other`, async () => {
    const text = await explained('example.com/workload', by);
    assert.match(text, /no role names example\.com\/new.*signers needs this line: \{/);
    const [first = '', ...others] = text.split('what you can do:\n')[1]?.trim().split('\n') ?? [];
    assert.match(first, advice);
    assert.deepEqual(
      others.map((each) => each.trim()),
      ['countersign check'],
    );
    assert.equal(count(text, FAULT), 0, text);
  });
}

for (const [why, listed, mayRead] of [
  ['a role names the signer', 'example.com/new', true],
  ['the user may not read the Deployments', 'example.com/workload', false],
] as const) {
  test(`where ${why}, explain has the message of its conditions, and Ready’s once`, async () => {
    const text = await explained(listed, INSTALL, { mayRead });
    assert.match(text, /does not serve example\.com\/new: AuthorityUnavailable: /);
    assert.doesNotMatch(text, /no role names/);
    assert.equal(count(text, FAULT), 1, text);
  });
}

test('where the Secret of a signer is in a foreign namespace, explain and check say so', async () => {
  const secret = { namespace: 'elsewhere', name: 'new-ca' };
  const moved = state({
    spec: { signerName: 'example.com/new' },
    managed: { secret },
    conditions: CONDITIONS,
  });
  const why =
    'its CA is in namespace elsewhere, so that no component may serve it: this installation keeps its CAs in namespace countersign-keys';
  const text = await explained('example.com/workload', HELM, { signer: moved.signer });
  assert.ok(text.includes(why), text);
  assert.doesNotMatch(text, /needs this line|helm/);
  assert.match(text, /what you can do:\n\s+move its CA to namespace countersign-keys, and /);
  const signers = { value: signersOf(moved) };
  const [found] = findingsOf('signers-listed', { installed: { signers } });
  assert.equal(found?.why, why);
  const [ready] = findingsOf('signers-ready', { installed: { signers } });
  assert.equal(ready?.causedBy, `signers-listed clustersigner/${moved.signer.metadata.name}`);
});

test('explain reads the Deployments of the namespace that the roles name', async () => {
  const client = recordedClient();
  await explained('example.com/workload', HELM, { client });
  const paths = client.requests.map(({ path }) => path.replace(/\?.*/, ''));
  assert.deepEqual(
    paths.filter((path) => path.endsWith('/deployments')),
    ['/apis/apps/v1/namespaces/pki-system/deployments'],
  );
});

test('explain of a request to a signer that no role names has the fix of check', async () => {
  const text = await explained('example.com/workload', HELM, { kind: 'csr' });
  assert.match(text, /no role names example\.com\/new.*signers needs this line: \{/);
  assert.match(text, /what you can do:\n\s+helm upgrade pki .*\n\s+countersign check\n/);
  const unread = await explained('example.com/workload', HELM, { kind: 'csr', mayRead: false });
  assert.match(unread, /is not Ready: AuthorityUnavailable: /);
});

for (const [found, conditions, asked] of [
  ['WaitingForSigner', CONDITIONS, CSR],
  ['WaitingForTrust', undefined, CSR],
  ['Issued', undefined, { ...CSR, status: { certificate: 'eA==' } }],
] as const) {
  test(`explain of a request: ${found}, also for users who may only list signers`, async () => {
    const spec = { signerName: 'example.com/new' };
    const { signer } = state(conditions === undefined ? { spec } : { spec, conditions });
    const of = { signer, kind: 'csr', asked };
    const text = await explained('example.com/workload', HELM, { ...of, mayGet: false });
    assert.match(text, new RegExp(`^certificatesigningrequest/workload: ${found}\n`));
    assert.equal(text, await explained('example.com/workload', HELM, of));
  });
}

for (const [reason, advice] of [
  ['InvalidSpec', /^kubectl edit clustersigner workload /],
  ['KeyLost', /^countersign check --explain ca-usable /],
  ['SecretNotGranted', /^kubectl /],
] as const) {
  test(`explain advises first on ${reason} of a signer that no role names, then on roles`, async () => {
    const ready = { type: 'Ready', status: 'False', reason, message: 'own fault' } as const;
    const { signer } = state({ spec: { signerName: 'example.com/new' }, conditions: [ready] });
    for (const kind of ['csr', 'signer']) {
      const text = await explained('example.com/workload', HELM, { kind, signer });
      const [head = '', can = ''] = text.split('what you can do:\n');
      assert.match(head, new RegExp(`${reason}: own fault.*; also, no role names example.com/new`));
      const lines = can.split('\n').map((each) => each.trim());
      assert.match(lines[0] ?? '', advice, text);
      assert.match(lines[1] ?? '', /^helm upgrade pki /, text);
      assert.deepEqual(lines.slice(2), ['countersign check', '']);
    }
  });
}
