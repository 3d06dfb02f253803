// SPDX-License-Identifier: Apache-2.0
/**
 * What becomes of an installation when its spec, its permissions or the cluster change. The tests
 * follow each other.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import type { ComponentProcess } from '../support/cluster/component-process.ts';
import { apply } from '../support/cluster/apply.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { healed } from './healed.ts';
import { OPTIONAL, areAllowed, restarted, specOf } from './optional.ts';
import { quota, REFUSERS } from './refusers.ts';
import { DESIRED, EXAMPLE, SYSTEM, WAIT_MS, desiredOf, startStand, type Stand } from './stand.ts';

interface GrantedRole {
  readonly rules: readonly { readonly resources: readonly string[] }[];
}

let stand: Stand;
let operator: ComponentProcess;
before(async () => {
  stand = await startStand();
  operator = await stand.start();
  await stand.install();
  await stand.condition('Progressing', 'False');
  await healed(stand);
});
after(() => stand.close());

test('what is refused changes nothing, and the condition says why', async () => {
  const versions = async (): Promise<unknown> =>
    Promise.all(DESIRED.map(async (each) => (await stand.admin.read(each))?.metadata.generation));
  const before_ = await versions();
  const components = (signer: object): object => ({ components: { signer } });
  const wrong: readonly (readonly [reason: string, more: object])[] = [
    ['UnsupportedVersion', { version: '9.9.9' }],
    ['UnknownArgument', components({ extraArgs: ['--future=1'] })],
    ['ForbiddenEnvironment', components({ extraEnv: [{ name: 'NODE_OPTIONS', value: '-r x' }] })],
    ['ImageNotAllowed', { image: { reference: 'evil.example/evil:1' } }],
    ['DangerZoneNotAllowed', { dangerZone: { extraArgs: { signer: ['--future=1'] } } }],
    ['DangerZoneNotAllowed', { bundleEndpoint: { svidSigner: 'example.com/workload' } }],
    ['InvalidSpec', { components: { nobody: {} } }],
    [
      'MissingPermissions',
      { signers: [...(EXAMPLE.spec.signers ?? []), { name: 'example.com/third' }] },
    ],
  ];
  for (const [reason, more] of wrong) {
    await stand.install({ ...EXAMPLE.spec, ...more });
    const message = await stand.condition('Degraded', 'True', reason);
    if (reason === 'MissingPermissions') assert.match(message, /example\.com\/third/);
  }
  assert.deepEqual(await versions(), before_);
  assert.equal((await stand.countersign())?.status?.version, '0.1.0');
});

test('one more signer name is served once an administrator has granted it', async () => {
  const signers = [...(EXAMPLE.spec.signers ?? []), { name: 'example.com/third' }];
  const spec = { ...EXAMPLE.spec, signers };
  await stand.grant(spec);
  await stand.condition('Degraded', 'False');
  await healed(stand, desiredOf(spec));
  await stand.install();
  await healed(stand);
});

for (const optional of OPTIONAL) {
  const { what, names, flags = [], left, namespace, lacks, rights } = optional;
  test(`${what}: once an administrator lets them be, and until their components go`, async () => {
    const spec = specOf(optional);
    if (flags.length > 0) operator = await restarted(stand, operator, flags);
    if (namespace !== undefined) await stand.cluster.kubectl(['create', 'namespace', namespace]);
    await stand.install(spec);
    if (lacks !== undefined) {
      assert.match(await stand.condition('Degraded', 'True', 'MissingPermissions'), lacks);
      await stand.grant(spec);
    }
    await stand.condition('Degraded', 'False');
    await healed(stand, desiredOf(spec));
    await areAllowed(stand.client, rights, true);
    await stand.install({ ...EXAMPLE.spec, ...left });
    const args = ['get', 'deployment,clusterrole,role', '-A', '-o', 'name'];
    await until('they are gone', WAIT_MS, async () => {
      const { stdout } = await stand.cluster.kubectl(args);
      return !names.some((name) => stdout.includes(`countersign-${name}`));
    });
    await stand.install();
    await healed(stand);
    await stand.condition('Degraded', 'False');
    await areAllowed(stand.client, rights, false);
    if (flags.length > 0) operator = await restarted(stand, operator, []);
  });
}

test('overrides reach a Deployment, and leave it when they are taken away', async () => {
  const signer = { replicas: 3, nodeSelector: { a: 'b' }, extraArgs: ['--log-level=debug'] };
  const spec = { ...EXAMPLE.spec, components: { signer } };
  await stand.install(spec);
  await healed(stand, desiredOf(spec));
  await stand.condition('Progressing', 'False');
  await stand.install();
  await healed(stand);
  const path = 'jsonpath={.spec.template.spec.nodeSelector}';
  const args = ['get', 'deployment', 'countersign-signer', '-n', SYSTEM, '-o', path];
  const { stdout } = await stand.cluster.kubectl(args);
  assert.deepEqual(JSON.parse(stdout), { 'kubernetes.io/os': 'linux' });
});

test('a component that is left out is removed, and comes back', async () => {
  const components = { 'certificate-request': { enabled: false } };
  await stand.install({ ...EXAMPLE.spec, components });
  const args = ['get', 'deployment,clusterrole', '-A', '-o', 'name'];
  await until('it is gone', WAIT_MS, async () => {
    return !(await stand.cluster.kubectl(args)).stdout.includes('countersign-certificate-request');
  });
  await stand.install();
  await healed(stand);
});

test('another roleRef is reported, and the binding is made again once it is deleted', async () => {
  const binding = DESIRED.find(({ kind }) => kind === 'RoleBinding');
  assert.ok(binding);
  await operator.stop();
  const live = await stand.admin.read(binding);
  assert.ok(live);
  await stand.admin.remove(live);
  const { uid: _uid, resourceVersion: _version, ...metadata } = live.metadata;
  const roleRef = {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'ClusterRole',
    name: 'cluster-admin',
  };
  await stand.cluster.kubectl(['create', '-f', '-'], {
    input: JSON.stringify({
      ...live,
      metadata: { ...metadata, managedFields: undefined },
      roleRef,
    }),
  });
  operator = await stand.start();
  const message = await stand.condition('Degraded', 'True', 'ObjectsDiffer');
  assert.match(message, /binds ClusterRole cluster-admin, not Role .*: delete the binding/);
  // RBAC refuses to write it, and lists every rule of a cluster-admin: nothing of it is written.
  assert.ok(message.length < 300, message);
  const wrong = await stand.admin.read(binding);
  assert.ok(wrong);
  await stand.admin.remove(wrong);
  await stand.condition('Degraded', 'False');
  await healed(stand);
});

test('copies with an owner reference to the object are kept and reported, not degraded', async () => {
  const { apiVersion, kind, metadata } = (await stand.countersign()) ?? EXAMPLE;
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid };
  const copied = {
    name: 'stranger',
    namespace: SYSTEM,
    ownerReferences: [owner],
    labels: { 'operator.countersign.dev/managed-by': 'countersign' },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: copied,
    spec: { ports: [{ port: 80 }] },
  };
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: copied };
  await apply(stand.cluster, service, account);
  const degraded = (message: RegExp): Promise<boolean> =>
    until(message.source, WAIT_MS, async () =>
      message.test(await stand.condition('Degraded', 'False')),
    );
  await degraded(/^left alone, .*ServiceAccount countersign-system\/stranger/);
  await degraded(/Service countersign-system\/stranger/);
  const role = await deleted('ClusterRole', 'countersign-signer');
  await healed(stand, [role]);
  await stand.condition('Upgradeable', 'True');
  await until('the Event is there', WAIT_MS, async () => {
    const args = ['get', 'events.events.k8s.io', '-n', 'default', '-o', 'json'];
    return /"UnexpectedDependents"/.test((await stand.cluster.kubectl(args)).stdout);
  });
  await stand.cluster.kubectl(['delete', 'service,sa', 'stranger', '-n', SYSTEM]);
  await degraded(/^every object is as it is desired$/);
});

for (const { what, objects, names, says } of REFUSERS) {
  test(`${what} that refuses one object is named, and all others go on`, async () => {
    await apply(stand.cluster, ...objects);
    await until('it is in force', WAIT_MS, async () => {
      const args = ['create', 'deployment', 'countersign-signer', '--image=x', '--dry-run=server'];
      return says.test((await stand.cluster.kubectl(args, { allowFailure: true })).stderr);
    });
    await deleted('Service', 'countersign-signer');
    await deleted('Deployment', 'countersign-signer');
    await until('it is named', WAIT_MS, async () => {
      const message = await stand.condition('Degraded', 'True', 'ObjectsDiffer');
      return (
        message.includes('Deployment countersign-system/countersign-signer: ') && says.test(message)
      );
    });
    await healed(
      stand,
      DESIRED.filter(({ kind }) => kind !== 'Deployment'),
    );
    for (const each of names) await stand.cluster.kubectl(['delete', each]);
    await healed(stand);
  });
}

/** Deletes an object of the installation, as somebody who means it. */
async function deleted(kind: string, name: string): Promise<ManagedObject> {
  const object = DESIRED.find((each) => each.kind === kind && each.metadata.name === name);
  assert.ok(object);
  const live = await stand.admin.read(object);
  assert.ok(live);
  await stand.admin.remove(live);
  return object;
}

test('a quota that refuses one object is named, and all others go on', async () => {
  await quota(stand, 'no-services', { services: '0' });
  await deleted('Service', 'countersign-signer');
  const role = await deleted('ClusterRole', 'countersign-signer');
  const message = await stand.condition('Degraded', 'True', 'ObjectsDiffer');
  assert.match(message, /Service countersign-system\/countersign-signer: .*exceeded quota/);
  await healed(stand, [role]);
  await stand.cluster.kubectl(['delete', 'resourcequota', 'no-services', '-n', SYSTEM]);
  await stand.condition('Degraded', 'False');
  await healed(stand);
});

test('a quota that refuses pods is named while the old ones serve', async () => {
  await quota(stand, 'no-pods', { pods: '0' });
  const spec = { ...EXAMPLE.spec, components: { signer: { nodeSelector: { a: 'b' } } } };
  await stand.install(spec);
  const message = await stand.condition('Degraded', 'True', 'RolloutStuck');
  assert.match(message, /Deployment countersign-system\/countersign-signer: .*exceeded quota/);
  await stand.condition('Available', 'True');
  await healed(stand, desiredOf(spec));
  await stand.cluster.kubectl(['delete', 'resourcequota', 'no-pods', '-n', SYSTEM]);
  await stand.install();
  await stand.condition('Degraded', 'False');
  await stand.condition('Progressing', 'False');
});

test('a permission that is lost stops only what needs it, and is named', async () => {
  const args = ['get', 'role', 'countersign-operator', '-n', SYSTEM, '-o', 'json'];
  const role = JSON.parse((await stand.cluster.kubectl(args)).stdout) as GrantedRole;
  const rules = role.rules
    .map((each) => ({ ...each, resources: each.resources.filter((of) => of !== 'services') }))
    .filter(({ resources }) => resources.length > 0);
  const input = JSON.stringify({ ...role, rules });
  await stand.cluster.kubectl(['replace', '-f', '-'], { input });
  const service = await deleted('Service', 'countersign-signer');
  const message = await stand.condition('Degraded', 'True', 'MissingPermissions');
  assert.match(message, /lack: .*services.* in namespace countersign-system/);
  assert.match(message, /Service countersign-system\/countersign-signer: /);
  const clusterRole = await deleted('ClusterRole', 'countersign-signer');
  await healed(stand, [clusterRole]);
  assert.equal(await stand.admin.read(service), undefined);
  await stand.grant(EXAMPLE.spec);
  await stand.condition('Degraded', 'False');
  await healed(stand);
});

test('deleting the object removes the installation, not keys, CRDs or certificates', async () => {
  const kept = ['CustomResourceDefinition', 'Namespace', 'Secret', 'ConfigMap', 'ClusterSigner'];
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'workload-ca', namespace: 'countersign-keys' },
  };
  await apply(stand.cluster, secret);
  const uids = async (): Promise<readonly unknown[]> =>
    Promise.all(
      [...DESIRED.filter(({ kind }) => kept.includes(kind)), secret as ManagedObject].map(
        async (each) => (await stand.admin.read(each))?.metadata.uid,
      ),
    );
  const before_ = await uids();
  assert.ok(before_.every((uid) => uid !== undefined));
  await stand.cluster.kubectl(['delete', 'countersigns', 'cluster']);
  await until('the installation is gone', WAIT_MS, async () => {
    const left = await Promise.all(
      DESIRED.filter(({ kind }) => !kept.includes(kind)).map((each) => stand.admin.read(each)),
    );
    return left.every((each) => each === undefined);
  });
  assert.deepEqual(await uids(), before_);
});

test('what kubectl installed is adopted in place, and the Event says so', async () => {
  await apply(stand.cluster, ...(DESIRED as readonly object[]));
  const deployments = DESIRED.filter(({ kind }) => kind === 'Deployment');
  const uids = (): Promise<unknown> =>
    Promise.all(deployments.map(async (each) => (await stand.admin.read(each))?.metadata.uid));
  const before_ = await uids();
  await stand.install();
  await healed(stand);
  assert.deepEqual(await uids(), before_);
  await until('the Event is there', WAIT_MS, async () => {
    const args = ['get', 'events.events.k8s.io', '-n', 'default', '-o', 'json'];
    return /adopted .*from kubectl apply/.test((await stand.cluster.kubectl(args)).stdout);
  });
});
