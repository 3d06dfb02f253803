// SPDX-License-Identifier: Apache-2.0
/**
 * Advice that a person, or a test, can type: a command that heals what is named. The table of
 * test/support/advice carries each out on a cluster.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import type { Deployment } from '#diagnose/check/facts.ts';
import { remedyCommand } from '#operations/signer-remedy.ts';
import { state } from '../../operations/signer-states.ts';
import { findingsOf, installed, leasesWithout, signersOf } from './well.ts';

test('a cordoned node is no finding: no new pod is scheduled to its older kubelet', () => {
  const old = { node: 'old', version: 'v1.34.2' };
  const severities = [false, true].map((isCordoned) => {
    const kubelets = { value: [{ ...old, isCordoned }] };
    return findingsOf('kubelet-versions', { kubernetes: { kubelets } })[0]?.severity;
  });
  assert.deepEqual(severities, ['warning', 'ok']);
});

for (const [reason, command] of [
  ['InvalidSpec', /^kubectl edit clustersigner workload /],
  [
    'SignerNameTaken',
    /^kubectl delete clustersigner workload .*create it again with another spec\.signerName$/,
  ],
  [
    'SecretNotFound',
    /^kubectl create secret tls workload-ca -n countersign-keys .* && kubectl ann/,
  ],
  ['SecretNotGranted', /^kubectl annotate secret workload-ca /],
  ['Initializing', /^countersign explain signer\/workload$/],
] as const)
  test(`a signer that is not Ready for ${reason} comes with ${String(command)}`, () => {
    const conditions = [{ type: 'Ready', status: 'False', reason, message: 'x' } as const];
    const value = signersOf(state({ conditions }));
    const [found] = findingsOf('signers-ready', { installed: { signers: { value } } });
    assert.match(found?.remediation ?? '', command);
  });

test('a signer that is Ready needs no command', () => {
  assert.equal(remedyCommand(state().signer), undefined);
});

function deploymentsWith(
  component: string,
  changes: Partial<Deployment> | undefined,
): { readonly value: readonly Deployment[] } {
  assert.ok('value' in installed.deployments);
  const value = installed.deployments.value.flatMap((each) => {
    if (each.component !== component) return [each];
    return changes === undefined ? [] : [{ ...each, ...changes }];
  });
  return { value };
}

test('a component without pods is its own finding, also with an unbound role', () => {
  assert.ok('value' in installed.bindings);
  const bindings = {
    value: installed.bindings.value.filter(({ role }) => role.name !== 'countersign-signer'),
  };
  const leases = { value: leasesWithout('signer') };
  const causes = [{ wanted: 0 }, undefined, {}].map((changes) => {
    const deployments = deploymentsWith('signer', changes);
    const found = findingsOf('components-running', {
      installed: { deployments, leases, bindings },
    });
    return found[0]?.causedBy !== undefined;
  });
  assert.deepEqual(causes, [false, false, true]);
});

test('a component that may be left out needs its ClusterRole where it has a Deployment', () => {
  assert.ok('value' in installed.roles);
  const roles = new Map(installed.roles.value);
  roles.delete('certificate-request');
  const [found] = findingsOf('roles-complete', { installed: { roles: { value: roles } } });
  assert.match(found?.why ?? '', /^it does not exist/);
  assert.equal(found?.subject, 'clusterrole/countersign-certificate-request');
  const deployments = deploymentsWith('certificate-request', undefined);
  const left = findingsOf('roles-complete', {
    installed: { roles: { value: roles }, deployments },
  });
  assert.equal(left[0]?.severity, 'ok');
});

test('definitions of an older version come with the upgrade, newer ones do not', () => {
  const installer = { kind: 'helm', release: 'pki', namespace: 'pki' } as const;
  assert.ok('value' in installed.definitions);
  const { value } = installed.definitions;
  const advice = ['1.2.2', '1.10.0'].map((release) => {
    const definitions = { value: value.map((each) => ({ ...each, release })) };
    return findingsOf('definitions-installed', { installed: { definitions, installer } })[0]
      ?.remediation;
  });
  assert.match(advice[0] ?? '', /of version 1\.2\.2, or upgrade: helm upgrade pki deploy\/chart /);
  assert.equal(advice[1], 'run countersign of version 1.10.0');
});

test('the advice for each definition applies the folder that has its file', () => {
  const root = join(import.meta.dirname, '../../..');
  const files = globSync('deploy/crds/**/*.yaml', { cwd: root });
  assert.ok(files.length > 8, String(files.length));
  for (const file of files) {
    const { metadata } = parse(readFileSync(join(root, file), 'utf8')) as ManagedObject;
    const differences = ['/spec/versions/0/schema'];
    const edited = {
      ...metadata,
      established: true,
      served: ['v1alpha1'],
      release: undefined,
      differences,
    };
    const found = findingsOf('definitions-installed', {
      installed: { definitions: { value: [edited] }, installer: { kind: 'manifests' } },
    });
    const own = found.find(({ subject }) => subject?.endsWith(`/${metadata.name}`) === true);
    const command = `kubectl apply --server-side --force-conflicts -f ${dirname(file)}`;
    assert.equal(own?.remediation, command);
  }
});

test('Helm’s version on definitions that the operator adopted is no finding', () => {
  assert.ok('value' in installed.definitions);
  const { value } = installed.definitions;
  const definitions = { value: value.map((each) => ({ ...each, release: '0.0.9' })) };
  const changes = { definitions, installer: { kind: 'operator' } as const };
  const found = findingsOf('definitions-installed', { installed: changes });
  assert.deepEqual(
    found.map(({ severity }) => severity),
    ['ok'],
  );
});

test('an operator that is scaled to 0 comes with the command that scales it up', () => {
  const status = {
    observedGeneration: 1,
    conditions: [{ type: 'Available', status: 'True' } as const],
  };
  const operated = {
    value: [{ kind: 'Countersign', name: 'cluster', generation: 1, status } as const],
  };
  const operator = {
    name: 'countersign-operator',
    component: 'operator',
    image: '',
    args: [],
    wanted: 0,
    available: 0,
  };
  assert.ok('value' in installed.deployments);
  const deployments = { value: [...installed.deployments.value, operator] };
  const [found] = findingsOf('operator-installs', { installed: { operated, deployments } });
  assert.match(
    found?.remediation ?? '',
    /^kubectl -n \S+ scale deployment countersign-operator --replicas=1$/,
  );
});

test('a missing ServiceAccount is named as cause, and its fix includes new tokens', () => {
  assert.ok('value' in installed.accounts);
  const accounts = {
    value: installed.accounts.value.filter((each) => each !== 'countersign-signer'),
  };
  const leases = { value: leasesWithout('signer') };
  const [found, ...others] = findingsOf('roles-bound', { installed: { accounts, leases } });
  assert.equal(found?.subject, 'serviceaccount/countersign-signer');
  assert.match(
    found.remediation ?? '',
    /^[^#]* && kubectl -n \S+ rollout restart deployment countersign-signer(?: {3}#.*)?$/,
  );
  assert.deepEqual(others, []);
  const [effect] = findingsOf('components-running', { installed: { accounts, leases } });
  assert.equal(effect?.causedBy, 'roles-bound serviceaccount/countersign-signer');
  assert.match(
    effect.remediation ?? '',
    /: kubectl -n \S+ rollout restart deployment countersign-signer$/,
  );
});
