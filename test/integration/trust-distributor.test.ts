// SPDX-License-Identifier: Apache-2.0
/** Anchors in ConfigMaps of namespaces that opted in, with exactly the printed role and policy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { DEMO } from '../../build/demo-installation.ts';
import { renderRbac } from '../../src/manifests/render.ts';
import { until } from '../cluster/until.ts';
import { applyText } from '../support/cluster/apply.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import type { GrantedVerb } from '../support/cluster/roles.ts';

const WAIT_MS = 120_000;
const NAME = 'example.com.workload.primary';
const OPT_IN = 'countersign.dev/trust=enabled';

interface Found {
  readonly metadata: { readonly uid: string; readonly annotations?: Record<string, string> };
  readonly data?: Readonly<Record<string, string>>;
}

let fixture: Fixture;
let component: ComponentProcess;
const roleText = renderRbac({ ...DEMO, optionalComponents: ['trust-distributor'] }).get(
  'trust-distributor.yaml',
);

before(async () => {
  fixture = await startFixture({ only: ['authority', 'attester'], args: ['--propagation', '2s'] });
  await applyText(fixture.cluster, roleText ?? '');
  const kubeconfig = await componentKubeconfig(fixture.cluster, 'trust-distributor');
  component = await startComponent({ name: 'trust-distributor', kubeconfig });
  await component.ready(WAIT_MS);
  for (const namespace of ['wanting', 'left-alone', 'leaving', 'owning'])
    await kubectl('create', 'namespace', namespace);
});

after(async () => {
  await component.stop();
  await fixture.stop();
});

async function kubectl(...args: readonly string[]): Promise<string> {
  return (await fixture.cluster.kubectl(args)).stdout;
}

async function configMap(namespace: string): Promise<Found | undefined> {
  const text = await kubectl(
    ...['get', 'configmap', NAME, '-n', namespace, '--ignore-not-found', '-o', 'json'],
  );
  return text === '' ? undefined : (JSON.parse(text) as Found);
}

const published = (): Promise<string> =>
  kubectl(
    ...['get', 'clustertrustbundle', 'example.com:workload:primary'],
    ...['-o', 'jsonpath={.spec.trustBundle}'],
  );

function holdsPublished(namespace: string): Promise<unknown> {
  return until(`${namespace} has what is published, and nothing else`, WAIT_MS, async () => {
    const { data } = (await configMap(namespace)) ?? {};
    return data?.['ca.crt'] === (await published()) && Object.keys(data).length === 1;
  });
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

test('a namespace that opts out loses the copy', async () => {
  await kubectl('label', 'namespace', 'leaving', OPT_IN);
  await holdsPublished('leaving');
  await kubectl('label', 'namespace', 'leaving', 'countersign.dev/trust-');
  await until('it is gone', WAIT_MS, async () => (await configMap('leaving')) === undefined);
});

test('a CA that is prepared is copied once it is published', async () => {
  const before = await published();
  const rotate = `countersign.dev/prepare-at=${new Date().toISOString()}`;
  await kubectl('annotate', 'clustersigner', 'workload', '--overwrite', rotate);
  await until('another bundle is published', WAIT_MS, async () => (await published()) !== before);
  await holdsPublished('wanting');
});

const roles = parseAllDocuments(roleText ?? '')
  .map((document) => document.toJS() as GrantedVerb['role'])
  .filter(({ rules }) => rules !== undefined);

for (const role of roles) {
  for (const { verbs, resources } of role.rules ?? []) {
    const [resource = ''] = resources;
    // Kubernetes grants these reads to every ServiceAccount.
    if (resource === 'clustertrustbundles') continue;
    test(`without ${resources.join()} (${role.kind}) it is not ready, names each verb, and heals`, async () => {
      await replace({ ...role, rules: role.rules?.filter((each) => each.resources !== resources) });
      await until('it says what is missing', WAIT_MS, async () => {
        const { status, text } = await component.readyz();
        const isNamed = (verb: string): boolean =>
          text
            .split('\n')
            .some((line) => line.includes(`lacks: ${verb} `) && line.includes(resource));
        return status === 503 && verbs.every(isNamed);
      });
      await replace(role);
      await component.ready(WAIT_MS);
    });
  }
}

async function replace(role: object): Promise<void> {
  await fixture.cluster.kubectl(['replace', '-f', '-'], { input: JSON.stringify(role) });
}
