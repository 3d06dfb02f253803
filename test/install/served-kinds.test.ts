// SPDX-License-Identifier: Apache-2.0
/**
 * Who may sign for a signer, and read the key of its CA: the components of the kinds that it
 * serves, and no other.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVED_KINDS, type ServedKind } from '#api/signer/cluster-signer.ts';
import type { KubeObject } from '#api/object/object.ts';
import { namesByKind, readNamedKinds } from '#cli/commands/rbac/named-kinds.ts';
import { COMPONENTS, type ComponentName } from '#install/component-list.ts';
import { installationNames } from '#install/installation-names.ts';
import type { Installation } from '#install/installation.ts';
import { checkedPlanOf } from '#install/values/plan.ts';
import { clusterSigner, workloadSpec } from '../support/signers/cluster-signer.ts';
import { linesOf } from './roles.ts';

/**
 * The component of each kind of requests; and beside it who approves CertificateSigningRequests.
 */
const COMPONENT: Readonly<Record<ServedKind, ComponentName>> = {
  pods: 'pcr-issuer',
  requests: 'signer',
  certificateRequests: 'certificate-request',
};

/** No component of requests: they make the CA, and publish its trust. */
const OF_ALL: readonly ComponentName[] = ['authority', 'attester'];

const nameOf = (kind: ServedKind): string => `example.com/${kind.toLowerCase()}`;
const secretOf = (kind: ServedKind): string => `${kind.toLowerCase()}-ca`;

function fromValues(serves: (kind: ServedKind) => readonly ServedKind[] | undefined): Installation {
  const signers = SERVED_KINDS.map((kind) => {
    const kinds = serves(kind);
    return { name: nameOf(kind), ...(kinds === undefined ? {} : { serves: kinds }) };
  });
  return checkedPlanOf({ signers }, { namespace: 'countersign-system', version: '1' }).installation;
}

/** ClusterSigners that each serve one kind. */
function fromCluster(): Installation {
  const { pods, requests, authority, profile } = workloadSpec();
  const served: Readonly<Record<ServedKind, unknown>> = {
    pods,
    requests,
    certificateRequests: { rules: [{ name: 'all', when: 'true', allow: {} }] },
  };
  const items = SERVED_KINDS.map((kind): KubeObject => {
    const secret = { namespace: 'countersign-keys', name: secretOf(kind) };
    const { managed } = authority as { readonly managed: object };
    return clusterSigner({
      signerName: nameOf(kind),
      trustBundle: { name: 'primary' },
      profile,
      authority: { managed: { ...managed, secret } },
      [kind]: served[kind],
    });
  });
  const init = { secretNamespace: 'countersign-keys', servingSigner: 'countersign.dev/serving' };
  const { leftOut, ...names } = installationNames(items, init);
  assert.deepEqual(leftOut, []);
  return { ...names, namespace: 'countersign-system', servingSigner: init.servingSigner };
}

/** What `countersign rbac` makes of its flags. */
function fromFlags(): Installation {
  const signers = SERVED_KINDS.map((kind) => readNamedKinds('--signer', `${nameOf(kind)}=${kind}`));
  const found = namesByKind(signers, () => []);
  const served = (kind: ServedKind): NonNullable<Installation['served']>[ServedKind] => ({
    signers: found[kind],
    secrets: [{ namespace: 'countersign-keys', name: secretOf(kind) }],
  });
  const all = fromValues(() => undefined);
  return {
    ...all,
    served: {
      pods: served('pods'),
      requests: served('requests'),
      certificateRequests: served('certificateRequests'),
    },
  };
}

const WAYS: Readonly<Record<string, Installation>> = {
  values: fromValues((kind) => [kind]),
  'the ClusterSigners of a cluster': fromCluster(),
  'flags of countersign rbac': fromFlags(),
};

const holds = (lines: readonly string[], verb: string, name: string): boolean =>
  lines.some((line) => line.startsWith(`${verb} `) && line.split(/[ [\]]/).includes(name));
const reads = (lines: readonly string[], name: string): boolean =>
  holds(
    lines.filter((line) => line.includes(' /secrets')),
    'get,list,watch',
    name,
  );

for (const [way, installation] of Object.entries(WAYS)) {
  for (const kind of SERVED_KINDS) {
    test(`${way}: of a signer of ${kind} only ${COMPONENT[kind]} may sign and read the key`, () => {
      for (const component of COMPONENTS.keys()) {
        if (OF_ALL.includes(component)) continue;
        const lines = linesOf(component, installation);
        const isIts = component === COMPONENT[kind];
        const signs = isIts && kind !== 'certificateRequests';
        assert.equal(holds(lines, 'sign', nameOf(kind)), signs, `${component} signs`);
        assert.equal(reads(lines, secretOf(kind)), isIts, `${component} reads`);
        const approves = component === 'approver' && kind === 'requests';
        assert.equal(holds(lines, 'approve', nameOf(kind)), approves, `${component} approves`);
      }
      assert.ok(holds(linesOf('attester', installation), 'attest', nameOf(kind)));
    });
  }
}

test('a line of signers without serves means all kinds, as before there was the value', () => {
  const all = fromValues(() => undefined);
  for (const kind of SERVED_KINDS)
    for (const component of Object.values(COMPONENT))
      assert.ok(reads(linesOf(component, all), secretOf(kind)), component);
  const { served: _served, ...before } = all;
  for (const component of COMPONENTS.keys())
    assert.deepEqual(linesOf(component, all), linesOf(component, before), component);
});

test('a kind that does not exist is refused, in values and in flags', () => {
  assert.throws(() => fromValues(() => ['pod' as 'pods']), /signers\.0\.serves/);
  assert.throws(() => readNamedKinds('--signer', 'a/b=pod'), /"pod" is not a kind of requests/);
  assert.deepEqual(readNamedKinds('--signer', 'a/b='), { name: 'a/b', kinds: [] });
});
