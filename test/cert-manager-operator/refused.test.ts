// SPDX-License-Identifier: Apache-2.0
/**
 * What the operator refuses, and what somebody cannot do who holds its token, on an API server
 * without nodes. The tests follow each other.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../cluster/until.ts';
import { plannerOf, type Planner } from '../operator/planner.ts';
import { apply } from '../support/cluster/apply.ts';
import { releaseSum, unpackRelease } from '#install/cert-manager-operator/release.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { CAN, CANNOT } from './attempts.ts';
import { ALLOWED, NEW, OLD, loadRelease, type Release } from './releases.ts';
import { SYSTEM, USER, WAIT_MS, packed, startStand, type Stand } from './stand.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';

let stand: Stand;
let old: Release;
let next: Release;
let planner: Planner;
before(async () => {
  old = await loadRelease(OLD);
  next = await loadRelease(NEW);
  stand = await startStand({ realPods: false });
  await stand.start();
});
after(() => stand.close());

const isWebhook = ({ kind }: ManagedObject): boolean => kind.endsWith('WebhookConfiguration');

/**
 * Hands over a file as that of {@link OLD}, and waits until the condition says so: one before may
 * have the same reason.
 */
async function refusal(file: Uint8Array, reason: string, message: RegExp): Promise<void> {
  await stand.hand(OLD, file);
  await stand.install({ version: OLD });
  await until(`it is refused: ${message.source}`, WAIT_MS, async () =>
    message.test(await stand.condition('Degraded', 'True', reason)),
  );
}

test('a second CertManagerDeployment is refused by its schema', async () => {
  const second = { ...OBJECT, metadata: { name: 'second' } };
  await assert.rejects(
    apply(stand.cluster, second),
    /there is one CertManagerDeployment in a cluster; name it cluster/,
  );
});

/** Somebody who may write the object, as far as RBAC knows, and has these permissions besides. */
async function writer(name: string, ...rules: readonly object[]): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const objects = {
    apiGroups: ['operator.countersign.dev'],
    resources: ['certmanagerdeployments'],
    verbs: ['*'],
  };
  await apply(
    stand.cluster,
    { apiVersion: RBAC, kind: 'ClusterRole', metadata: { name }, rules: [objects, ...rules] },
    {
      apiVersion: RBAC,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name, apiGroup }],
    },
  );
}

/** What the API server says to `kubectl <args>` with this object, and does nothing. */
async function tried(by: string, ...args: readonly string[]): Promise<string> {
  const { code, stderr } = await stand.cluster.kubectl(
    [...args, `--as=${by}`, '--dry-run=server', '-f', '-'],
    { input: JSON.stringify(OBJECT), allowFailure: true },
  );
  return code === 0 ? 'done' : stderr;
}

const OBJECT = {
  apiVersion: 'operator.countersign.dev/v1alpha1',
  kind: 'CertManagerDeployment',
  metadata: { name: 'cluster' },
  spec: { version: OLD },
};

test('writing a CertManagerDeployment needs approve on all Issuers and get on Secrets', async () => {
  const approve = { apiGroups: ['cert-manager.io'], resources: ['signers'], verbs: ['approve'] };
  const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
  await writer('eve', approve);
  await writer('mallory', secrets);
  await writer('trent', { ...approve, resourceNames: ['*'] }, secrets);
  const refuses = (by: string, message: RegExp, ...args: readonly string[]): Promise<boolean> =>
    until(`${by} is refused`, WAIT_MS, async () => message.test(await tried(by, ...args)));
  const [noSecrets, noIssuers] = [
    /eve may not get the Secrets of all namespaces/,
    /mallory may not approve for every Issuer/,
  ];
  await refuses('eve', noSecrets, 'create');
  await refuses('mallory', noIssuers, 'create');
  await until('trent may', WAIT_MS, async () => (await tried('trent', 'create')) === 'done');
  await stand.install({ version: OLD });
  await refuses('eve', noSecrets, 'delete');
  await refuses('mallory', noIssuers, 'apply', '--server-side', '--force-conflicts');
  await stand.cluster.kubectl(['delete', 'certmanagerdeployments', 'cluster']);
});

test('its plan prints what a release file would make or why not, and makes nothing', async () => {
  const command = ['cert-manager-operator', 'plan'];
  const strict = await plannerOf(stand, command);
  planner = await plannerOf(stand, [...command, ALLOWED]);
  assert.equal((await planner.plan()).code, 2);
  const [file, release] = ['object.json', 'release.gz'].map((each) =>
    join(stand.cluster.directory, each),
  ) as [string, string];
  writeFileSync(file, JSON.stringify(OBJECT));
  const unconfirmed = await strict.plan('--file', file);
  assert.equal(unconfirmed.code, 3);
  assert.match(unconfirmed.stdout, /ReleaseUnconfirmed: .*cert-manager 1\.20\.3 is unconfirmed/);
  const missing = await planner.plan('--file', file);
  assert.equal(missing.code, 3);
  assert.match(missing.stdout, /^refused, nothing would change: ManifestMissing: /);
  writeFileSync(release, packed(next.text));
  const wrong = await planner.plan('--file', file, '--release', release);
  assert.equal(wrong.code, 3);
  assert.match(wrong.stdout, /ManifestUnknown: .*it is 1\.21\.2/);
  writeFileSync(release, packed(old.text));
  const { code, stdout } = await planner.plan('--file', file, '--release', release);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^make {4}Deployment cert-manager\/cert-manager-webhook$/m);
  // The namespace is there, of the operator's own manifests.
  assert.equal(stdout.match(/^make {4}/gm)?.length, old.objects.length - 1);
});

test('without a release, or with one that is not known, nothing is written', async () => {
  await stand.install({ version: OLD });
  const message = await stand.condition('Degraded', 'True', 'ManifestMissing');
  assert.match(
    message,
    /ConfigMap countersign-cert-manager\/cert-manager-1\.20\.3 is not there; run with cert-manager\.yaml/,
  );
  const whole = packed(old.text);
  await refusal(whole.subarray(0, whole.length / 2), 'ManifestInvalid', /not a complete gzip/);
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
  await refusal(bomb, 'ManifestInvalid', /larger than 4194304 bytes/);
  const evil = old.text.replace('quay.io/jetstack/cert-manager-webhook', 'evil.example/evil');
  const changed = /no known release: changed "Deployment cert-manager\/cert-manager-webhook"; use/;
  await refusal(packed(evil), 'ManifestUnknown', changed);
  const half = packed(old.text.slice(0, old.text.lastIndexOf('\n---')));
  const objects = await unpackRelease(half);
  assert.ok(!('reason' in objects));
  await refusal(
    half,
    'ManifestUnknown',
    new RegExp(`the sum ${releaseSum(objects)}, .*: missing "`),
  );
  await refusal(packed(next.text), 'ManifestUnknown', /it is 1\.21\.2/);
  const written = (await stand.writes()).filter((each) => !each.includes('/status'));
  assert.deepEqual(written, []);
  await stand.cluster.kubectl(['delete', 'configmap', `cert-manager-${OLD}`, '-n', SYSTEM]);
});

test('the release heals it; webhooks wait for pods that answer', async () => {
  await stand.hand(OLD, packed(old.text));
  await stand.condition('Degraded', 'False');
  const message = await stand.condition('Progressing', 'True', 'RollingOut');
  assert.match(message, /objects are made afterwards/);
  await stand.healed(old.objects.filter((each) => !isWebhook(each) && each.kind !== 'Service'));
  for (const each of old.objects.filter(isWebhook))
    assert.equal(await stand.admin.read(each), undefined);
});

test('its plan reads the release of the cluster, and names what differs', async () => {
  const { code, stdout } = await planner.plan();
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^make {4}MutatingWebhookConfiguration cert-manager-webhook$/m);
  assert.doesNotMatch(stdout, /^make {4}Deployment /m);
  assert.deepEqual(await planner.writes(), []);
});

test('what is refused changes nothing of what is installed', async () => {
  const generations = async (): Promise<unknown> =>
    Promise.all(
      old.objects.map(async (each) => (await stand.admin.read(each))?.metadata.generation),
    );
  const before_ = await generations();
  const webhook = (given: object): object => ({ components: { webhook: given } });
  const wrong: readonly (readonly [reason: string, more: object])[] = [
    ['UnsupportedVersion', { version: '1.19.5' }],
    ['ManifestMissing', { version: NEW }],
    ['UnknownArgument', webhook({ extraArgs: ['--future=1'] })],
    ['InvalidArgument', webhook({ extraArgs: ['--kubeconfig=/x'] })],
    ['ForbiddenEnvironment', webhook({ extraEnv: [{ name: 'GODEBUG', value: 'x' }] })],
    ['DangerZoneNotAllowed', { dangerZone: { extraArgs: { webhook: ['--future=1'] } } }],
  ];
  for (const [reason, more] of wrong) {
    await stand.install({ version: OLD, ...more });
    await stand.condition('Degraded', 'True', reason);
  }
  assert.deepEqual(await generations(), before_);
});

test('a missing permission is named and changes nothing; granting it is enough', async () => {
  const roles = ['delete', 'role', 'countersign-cert-manager-operator', '-n', 'kube-system'];
  await stand.cluster.kubectl(roles);
  const [gone] = old.objects.filter(({ kind }) => kind === 'Deployment');
  assert.ok(gone);
  const spec = { version: OLD, components: { cainjector: { replicas: 2 } } };
  await stand.install(spec);
  // What was granted before is noticed once a call is refused.
  const role = old.objects.find(
    ({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'kube-system',
  );
  assert.ok(role);
  const live = await stand.admin.read(role);
  if (live !== undefined) await stand.admin.remove(live);
  const message = await stand.condition('Degraded', 'True', 'MissingPermissions');
  assert.match(message, /kube-system/);
  await stand.grant();
  await stand.condition('Degraded', 'False');
  await stand.healed([role]);
  await stand.install({ version: OLD });
});

test('an admission policy that refuses one object is named, and all others go on', async () => {
  const version = 'admissionregistration.k8s.io/v1';
  const name = 'no-cainjector';
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'] };
  const policy = {
    apiVersion: version,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [{ ...rule, resources: ['deployments'] }] },
      validations: [
        {
          expression: "object.metadata.name != 'cert-manager-cainjector'",
          message: 'no cainjector today',
        },
      ],
    },
  };
  const binding = {
    apiVersion: version,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  };
  await apply(stand.cluster, policy, binding);
  await until('it is in force', WAIT_MS, async () => {
    const args = ['create', 'deployment', 'cert-manager-cainjector', '--image=x'];
    const { stderr } = await stand.cluster.kubectl([...args, '--dry-run=server'], {
      allowFailure: true,
    });
    return stderr.includes('no cainjector today');
  });
  const gone = old.objects.filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name !== 'cert-manager',
  );
  for (const each of gone) {
    const live = await stand.admin.read(each);
    if (live !== undefined) await stand.admin.remove(live);
  }
  const message = await stand.condition('Degraded', 'True', 'ObjectsDiffer');
  assert.match(message, /Deployment cert-manager\/cert-manager-cainjector: .*no cainjector today/);
  await stand.healed(
    old.objects
      .filter(({ metadata }) => metadata.name === 'cert-manager-webhook')
      .filter(({ kind }) => kind === 'Deployment'),
  );
  for (const each of ['validatingadmissionpolicybinding', 'validatingadmissionpolicy'])
    await stand.cluster.kubectl(['delete', each, name]);
  await stand.condition('Degraded', 'False');
  await stand.healed(gone);
});

/** As the operator writes: by server-side apply. @returns what the API server says */
async function applied(object: object): Promise<string> {
  const { stderr, code } = await stand.cluster.kubectl(
    ['apply', '--server-side', '--force-conflicts', '--dry-run=server', `--as=${USER}`, '-f', '-'],
    { input: JSON.stringify(object), allowFailure: true },
  );
  return code === 0 ? 'done' : stderr;
}

test('whoever holds its token grants and binds no more than cert-manager may', async () => {
  const own = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
  const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
  const metadata = { name: 'cert-manager-cainjector' };
  const role = (rule: object): object => ({
    apiVersion: RBAC,
    kind: 'ClusterRole',
    metadata,
    rules: [rule],
  });
  assert.equal(await applied(role(own)), 'done');
  assert.match(await applied(role(all)), /attempting to grant RBAC permissions not currently held/);
});

for (const [can, list] of [
  ['yes', CAN],
  ['no', CANNOT],
] as const) {
  for (const [what, ...args] of list) {
    test(`whoever holds its token ${can === 'yes' ? 'can' : 'cannot'} ${what}`, async () => {
      const { stdout } = await stand.cluster.kubectl(['auth', 'can-i', ...args, `--as=${USER}`], {
        allowFailure: true,
      });
      assert.equal(stdout.trim(), can);
    });
  }
}
