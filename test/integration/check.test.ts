// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign check` on a real cluster: well where all is well, and each thing that is broken has
 * its line.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../cluster/until.ts';
import { apply } from '../support/cluster/apply.ts';
import { check, faultsIn, shows, showsNothing } from '../support/cluster/asked.ts';
import type { CommandResult } from '../support/cluster/countersign.ts';
import { startComponent, type ComponentProcess } from '../support/cluster/component-process.ts';
import { componentKubeconfig } from '../support/cluster/installation.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { eachVerb, withoutVerb } from '../support/cluster/roles.ts';

const ROOT = join(import.meta.dirname, '../..');
const NAMESPACE = 'countersign-system';
const WAIT_MS = 60_000;

let fixture: Fixture;
let again: ComponentProcess | undefined;
before(async () => {
  fixture = await startFixture();
});
after(async () => {
  await again?.stop();
  await fixture.stop();
});

const run = (...args: readonly string[]): Promise<CommandResult> => check(fixture.cluster, ...args);
const faults = async (...args: readonly string[]): Promise<readonly string[]> =>
  (await faultsIn(fixture.cluster, ...args)).map(({ line }) => line);
const seen = (pattern: RegExp): Promise<unknown> => shows(fixture.cluster, pattern);
const nothing = (): Promise<unknown> => showsNothing(fixture.cluster);

test('--wait ends with 0 and the next command when all is well', async () => {
  const { code, stdout, stderr } = await run('--wait', '60s');
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /√ signers-ready: all \d signers are Ready/);
  assert.match(stdout, /^Next:\n {2}countersign authority show$/m);
  await nothing();
});

test('--pre finds that an administrator may install, and that a user may not', async () => {
  const [storage = '', ...others] = await faults('--pre');
  // This cluster provides no volumes, and the ledger is an option.
  assert.match(storage, /^warning ledger-possible .*no StorageClass is the default/);
  assert.deepEqual(others, []);
  const found = await faults('--pre', '--as', 'nobody');
  assert.ok(
    found.some((each) =>
      /^error may-install .*may not create .*customresourcedefinitions/.test(each),
    ),
    found.join('\n'),
  );
});

test('a user without rights gets what can be seen, and no fault that is none', async () => {
  const { code, stdout } = await run('--as', 'nobody', '--as-group', 'system:authenticated');
  assert.equal(code, 0, stdout);
  assert.match(stdout, /\? signers-ready: you may not list clustersigners\.countersign\.dev/);
});

test('a component that ends has its line within a Lease, and none after it is back', async () => {
  await fixture.installation.components.attester.stop();
  await seen(/^error components-running deployment\/countersign-attester no replica of attester/);
  const { code } = await run();
  assert.equal(code, 3);
  const kubeconfig = await componentKubeconfig(fixture.cluster, 'attester');
  again = await startComponent({ name: 'attester', kubeconfig });
  await nothing();
});

test('a verb that is taken from a role has its line, by role and by permission', async () => {
  const verb = eachVerb().find(
    (each) => each.component === 'signer' && each.resource === 'signers' && each.verb === 'sign',
  );
  assert.ok(verb !== undefined);
  const restore = await withoutVerb(fixture.cluster, verb);
  await seen(
    /^error roles-complete clusterrole\/countersign-signer it does not grant sign signers/,
  );
  await seen(/^error components-report-no-faults .*signer reports MissingPermissions/);
  await restore();
  await nothing();
});

test('a policy that is weakened has its line', async () => {
  const { cluster } = fixture;
  const name = 'countersign-cluster-signers';
  const kind = 'validatingadmissionpolicybinding';
  const { stdout } = await cluster.kubectl(['get', kind, name, '-o', 'json']);
  await cluster.kubectl(['delete', kind, name]);
  await seen(new RegExp(`^error policies-equal validatingadmissionpolicy/${name} .*not installed`));
  await cluster.kubectl(['create', '-f', '-'], { input: stdout });
  await nothing();
});

test('a signer with an invalid expression has its line, with what is wrong', async () => {
  const { cluster } = fixture;
  const patch = (allow: string): Promise<unknown> =>
    cluster.kubectl([
      'patch',
      'clustersigner',
      'workload',
      '--type',
      'json',
      '-p',
      JSON.stringify([{ op: 'replace', path: '/spec/pods/allow', value: allow }]),
    ]);
  const { stdout } = await cluster.kubectl([
    'get',
    'clustersigner',
    'workload',
    '-o',
    'jsonpath={.spec.pods.allow}',
  ]);
  await patch('pod.nonsense ==');
  await seen(/^(error|warning) signers-ready clustersigner\/workload .*spec\.pods\.allow/);
  await patch(stdout);
  await nothing();
});

test('a Countersign that no operator looks at has its line, and none after it is gone', async () => {
  const { cluster } = fixture;
  const definition = join(ROOT, 'deploy/crds/operator/countersigns.yaml');
  await cluster.kubectl(['apply', '--server-side', '-f', definition]);
  const object = {
    apiVersion: 'operator.countersign.dev/v1alpha1',
    kind: 'Countersign',
    metadata: { name: 'cluster' },
    spec: { version: '0.1.0' },
  };
  await until('its kind is served', WAIT_MS, async () => {
    await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(object) });
    return true;
  });
  await seen(/^error operator-installs countersign\/cluster operator has not looked at generation/);
  await cluster.kubectl(['delete', '-f', definition]);
  await nothing();
});

/** A Deployment of the installation, of one pod. */
function deploymentNamed(component: string, podSpec: object, container: object = {}): object {
  const labels = {
    'app.kubernetes.io/name': 'countersign',
    'app.kubernetes.io/component': component,
  };
  const containers = [{ name: 'x', image: 'example.com/x:1', ...container }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `countersign-${component}`, namespace: NAMESPACE, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { ...podSpec, containers } },
    },
  };
}

test('a Deployment whose pods are refused has its line, with what the API server said', async () => {
  const { cluster } = fixture;
  // The namespace takes restricted pods only.
  await apply(cluster, deploymentNamed('refused', { hostNetwork: true }));
  await seen(
    /^error replicas-available deployment\/countersign-refused 0 of 1 replicas are available: pods .* is forbidden: violates PodSecurity "restricted/,
  );
  await cluster.kubectl(['delete', 'deployment', 'countersign-refused', '-n', NAMESPACE]);
  await nothing();
});

test('a Deployment whose pod no node takes has its line, with what the scheduler said', async () => {
  const { cluster } = fixture;
  const nowhere = {
    nodeSelector: { 'example.com/nowhere': 'true' },
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  };
  const restricted = {
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  await apply(cluster, deploymentNamed('unscheduled', nowhere, restricted));
  await seen(
    /^error replicas-available deployment\/countersign-unscheduled 0 of 1 replicas are available: pod countersign-unscheduled-\S+: Unschedulable: 0\/\d nodes are available/,
  );
  await cluster.kubectl(['delete', 'deployment', 'countersign-unscheduled', '-n', NAMESPACE]);
  await nothing();
});
