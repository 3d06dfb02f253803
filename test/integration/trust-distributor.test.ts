// SPDX-License-Identifier: Apache-2.0
/** Anchors in ConfigMaps of namespaces that opted in, with exactly the printed role and policy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DEMO } from '../../build/demo-installation.ts';
import { caBundleTargetText } from '#api/object/ca-bundle-target.ts';
import { decodePkcs12 } from '#pki/keystores/decode-pkcs12.ts';
import { certificateBlocks } from '#pki/x509/trust-bundle.ts';
import { renderRbac } from '#install/render.ts';
import { findCondition } from '#api/request/conditions.ts';
import { until } from '../cluster/until.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { getSigner, startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { eachRuleIsNeeded, rolesIn } from '../support/cluster/without-rule.ts';
import { CROWD, createCrowd } from './trust/rotation.ts';
import { TEAMS, signersPublish } from './trust/signers.ts';
import { ASKED } from '../trust-rotation/asked.ts';
import { rotateUnderLoad } from '../trust-rotation/law.ts';
import {
  CA_BUNDLES,
  configured,
  objectsWithCaBundles,
  pathOf,
  withoutCaBundles,
} from './trust/ca-bundles.ts';

const WAIT_MS = 120_000;
const NAME = 'example.com.workload.primary';
const OPT_IN = 'countersign.dev/trust=enabled';

const caBundles = [...CA_BUNDLES, ...ASKED];

interface Found {
  readonly metadata: { readonly uid: string; readonly annotations?: Record<string, string> };
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

let fixture: Fixture;
let component: ComponentProcess;
let authority: ComponentProcess;
/** Objects with a caBundle before the component saw them. */
const beforeHand = new Map<string, unknown>();
const INSTALLATION = {
  ...DEMO,
  optionalComponents: ['trust-distributor'],
  caBundles,
  namespacedSigners: true,
  signerSecrets: ['web-ca', 'db-ca'].flatMap((name) =>
    [TEAMS.granted, TEAMS.taken].map((namespace) => ({ namespace, name })),
  ),
};
const rendered = renderRbac(INSTALLATION);
const roleText = rendered.get('trust-distributor.yaml') ?? '';

before(async () => {
  fixture = await startFixture({
    only: ['authority', 'attester', 'approver', 'signer'],
    args: ['--propagation', '2s'],
  });
  for (const namespace of Object.values(TEAMS)) await kubectl('create', 'namespace', namespace);
  for (const role of ['trust-distributor', 'authority', 'approver', 'signer'])
    await applyText(fixture.cluster, rendered.get(`${role}.yaml`) ?? '');
  await applyText(fixture.cluster, objectsWithCaBundles('example.com/workload'));
  for (const text of CA_BUNDLES.map(caBundleTargetText))
    beforeHand.set(
      text,
      withoutCaBundles(JSON.parse(await kubectl('get', text, '-o', 'json')) as Found),
    );
  authority = await servingSigners();
  component = await started();
  for (const namespace of ['wanting', 'left-alone', 'leaving', 'owning', 'storing'])
    await kubectl('create', 'namespace', namespace);
});

/** The one of the fixture had no role for it. */
async function servingSigners(): Promise<ComponentProcess> {
  await fixture.installation.components.authority.stop();
  const kubeconfig = await componentKubeconfig(fixture.cluster, 'authority');
  const args = ['--propagation', '2s', '--target-deadline', '20s', '--namespaced-signers'];
  const process = await startComponent({ name: 'authority', kubeconfig, args });
  await process.ready(WAIT_MS);
  return process;
}

async function started(): Promise<ComponentProcess> {
  const kubeconfig = await componentKubeconfig(fixture.cluster, 'trust-distributor');
  const named = caBundles.map((each) => `--ca-bundle-of=${caBundleTargetText(each)}`);
  const args = [...named, '--namespaced-signers'];
  const process = await startComponent({ name: 'trust-distributor', kubeconfig, args });
  await process.ready(WAIT_MS);
  return process;
}

after(async () => {
  await component.stop();
  await authority.stop();
  await fixture.stop();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  return (await fixture.cluster.kubectl(args)).stdout;
}

async function configMap(namespace: string): Promise<Found | undefined> {
  const text = await kubectl(
    'get',
    'configmap',
    NAME,
    '-n',
    namespace,
    '--ignore-not-found',
    '-o',
    'json',
  );
  return text === '' ? undefined : (JSON.parse(text) as Found);
}

const published = (): Promise<string> =>
  kubectl(
    'get',
    'clustertrustbundle',
    'example.com:workload:primary',
    '-o',
    'jsonpath={.spec.trustBundle}',
  );

function holdsPublished(namespace: string): Promise<unknown> {
  return until(`${namespace} has what is published, and nothing else`, WAIT_MS, async () => {
    const { data } = (await configMap(namespace)) ?? {};
    return data?.['ca.crt'] === (await published()) && Object.keys(data).length === 1;
  });
}

function caBundlesHold(text: string): Promise<unknown> {
  return until(`${text} has what is published`, WAIT_MS, async () => {
    const wanted = await published();
    const found = configured(JSON.parse(await kubectl('get', text, '-o', 'json')));
    return found.length > 0 && found.every((each) => each === wanted);
  });
}

async function patchObject(text: string, patch: readonly object[]): Promise<void> {
  await kubectl('patch', text, '--type=json', '-p', JSON.stringify(patch));
}

test('a namespace that opts in gets the published anchors; one that does not gets none', async () => {
  await kubectl('label', 'namespace', 'wanting', OPT_IN);
  await holdsPublished('wanting');
  assert.match(await published(), /BEGIN CERTIFICATE/);
  assert.equal(await configMap('left-alone'), undefined);
});

test('what somebody changes, adds or deletes is healed', async () => {
  const patch = ['patch', 'configmap', NAME, '-n', 'wanting', '--type=merge', '-p'];
  await kubectl(...patch, JSON.stringify({ data: { 'ca.crt': 'none' } }));
  await holdsPublished('wanting');
  await kubectl(...patch, JSON.stringify({ data: { 'more.crt': 'x' } }));
  await holdsPublished('wanting');
  await kubectl('delete', 'configmap', NAME, '-n', 'wanting');
  await holdsPublished('wanting');
});

test('a ConfigMap that was there is left alone until its owner annotates it', async () => {
  await kubectl('create', 'configmap', NAME, '-n', 'owning', '--from-literal=ca.crt=mine');
  await kubectl('label', 'namespace', 'owning', OPT_IN);
  const refused = /countersign_trust_targets_total\{[^}]*outcome="refused"[^}]*\} [1-9]/;
  await until('it says that it leaves it alone', WAIT_MS, async () =>
    refused.test(await component.metrics()),
  );
  const mine = await configMap('owning');
  assert.equal(mine?.data?.['ca.crt'], 'mine');
  const consent = 'countersign.dev/signer-name=example.com/workload';
  await kubectl('annotate', 'configmap', NAME, '-n', 'owning', consent);
  await holdsPublished('owning');
  assert.equal((await configMap('owning'))?.metadata.uid, mine.metadata.uid);
});

test('a namespace’s opt-in adds a PKCS#12 truststore, and its removal deletes it', async () => {
  await kubectl('label', 'namespace', 'storing', 'countersign.dev/trust=pkcs12');
  await until('a truststore is there', WAIT_MS, async () => {
    const { data, binaryData = {} } = (await configMap('storing')) ?? {};
    const store = binaryData['truststore.p12'];
    return data?.['ca.crt'] === (await published()) && store !== undefined;
  });
  const { binaryData = {} } = (await configMap('storing')) ?? {};
  const der = Buffer.from(binaryData['truststore.p12'] ?? '', 'base64');
  const { certificates } = await decodePkcs12(der, 'changeit');
  assert.deepEqual(
    certificates.map((each) => Buffer.from(each.der)),
    certificateBlocks(await published()).map((each) => Buffer.from(each)),
  );
  await kubectl('label', 'namespace', 'storing', '--overwrite', OPT_IN);
  await until('it is gone', WAIT_MS, async () => {
    const found = await configMap('storing');
    return found?.binaryData === undefined && found?.data?.['ca.crt'] === (await published());
  });
});

test('a namespace that opts out loses the copy', async () => {
  await kubectl('label', 'namespace', 'leaving', OPT_IN);
  await holdsPublished('leaving');
  await kubectl('label', 'namespace', 'leaving', 'countersign.dev/trust-');
  await until('it is gone', WAIT_MS, async () => (await configMap('leaving')) === undefined);
});

for (const target of CA_BUNDLES) {
  const text = caBundleTargetText(target);

  test(`each caBundle of ${text} is restored to the published one; the rest stays`, async () => {
    await caBundlesHold(text);
    await patchObject(text, [{ op: 'add', path: pathOf(target), value: '' }]);
    await caBundlesHold(text);
    const object = JSON.parse(await kubectl('get', text, '-o', 'json')) as Found;
    assert.deepEqual(withoutCaBundles(object), beforeHand.get(text));
  });
}

test('what nobody annotated is left alone until somebody does', async () => {
  const [target] = CA_BUNDLES;
  assert.ok(target);
  const text = caBundleTargetText(target);
  await kubectl('annotate', text, 'countersign.dev/signer-name-');
  await patchObject(text, [{ op: 'add', path: pathOf(target), value: '' }]);
  const refused =
    /countersign_trust_targets_total\{[^}]*signer=""[^}]*outcome="refused"[^}]*\} [1-9]/;
  await until('it says that it leaves it alone', WAIT_MS, async () =>
    refused.test(await component.metrics()),
  );
  const [first] = configured(JSON.parse(await kubectl('get', text, '-o', 'json')));
  assert.equal(first, '');
  await kubectl('annotate', text, 'countersign.dev/signer-name=example.com/workload');
  await caBundlesHold(text);
});

test('a CA that is prepared is copied once it is published', async () => {
  const before = await published();
  const rotate = `countersign.dev/prepare-at=${new Date().toISOString()}`;
  await kubectl('annotate', 'clustersigner', 'workload', '--overwrite', rotate);
  await until('another bundle is published', WAIT_MS, async () => (await published()) !== before);
  await holdsPublished('wanting');
  for (const target of CA_BUNDLES) await caBundlesHold(caBundleTargetText(target));
});

test('a rotation names a broken target and continues; no other verifier rejects a leaf', async () => {
  const { cluster } = fixture;
  await createCrowd(cluster, WAIT_MS);
  await until('the broken one is named', WAIT_MS, async () => {
    const { status } = await getSigner(cluster, 'workload');
    const degraded = findCondition(status?.conditions, 'Degraded');
    return degraded?.reason === 'TargetsLagging' && /broken/.test(degraded.message ?? '');
  });
  assert.match(await component.metrics(), /countersign_trust_targets_lagging\{[^}]*\} 1\b/);
  const signerName = 'example.com/workload';
  const scene = { cluster, signer: 'workload', signerName, configMap: NAME, caBundles };
  const { faults, issuers, targets } = await rotateUnderLoad(scene, 1);
  assert.deepEqual(faults, []);
  assert.equal(issuers, 2);
  assert.ok(targets > CROWD.length + caBundles.length);
});

test('a restart writes nothing', async () => {
  const versions = (): Promise<string> =>
    kubectl(
      'get',
      'configmaps,validatingwebhookconfigurations,mutatingwebhookconfigurations',
      '-A',
      '--field-selector',
      'metadata.name!=kube-root-ca.crt',
      '-o',
      'jsonpath={range .items[*]}{.metadata.name}={.metadata.resourceVersion} {end}',
    );
  const of = async (): Promise<readonly string[]> =>
    (await versions()).split(' ').filter((each) => /^(example\.com|trusting)/.test(each));
  const before = await of();
  assert.ok(before.length > 2);
  await component.stop();
  component = await started();
  // It has looked at all of them once what it makes again is there.
  await kubectl('label', 'namespace', 'left-alone', OPT_IN);
  await holdsPublished('left-alone');
  const after = await of();
  assert.deepEqual(
    after.filter((each) => before.includes(each)),
    before,
  );
});

signersPublish(() => ({ cluster: fixture.cluster, component }));

// Without the Role of a namespace with Signers it stays ready: that is the namespace's matter.
const ofInstallation = rolesIn(roleText).filter(
  ({ metadata }) => !Object.values<string | undefined>(TEAMS).includes(metadata.namespace),
);
eachRuleIsNeeded('trust-distributor', ofInstallation, () => ({
  cluster: fixture.cluster,
  component,
}));
