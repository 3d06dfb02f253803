// SPDX-License-Identifier: Apache-2.0
/**
 * An installation goes from hand to hand: operator, command line and chart. The cluster has no
 * nodes: what is tested is whose each object is. The tests follow each other.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { plannedObjects } from '#cli/commands/install/plan-objects.ts';
import { createWriter } from '#kube/apply/writer.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { ruleOf } from '#kube/apply/objects/kinds.ts';
import { titleOf, type ManagedObject } from '#kube/apply/objects/managed-object.ts';
import { until } from '../cluster/until.ts';
import { healed } from '../operator/healed.ts';
import { EXAMPLE, WAIT_MS, startStand, type Stand } from '../operator/stand.ts';
import { countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { FULL } from './full-values.ts';
import { CHART, startHelm, type Helm } from './helm.ts';
import { RELEASE, runCommands } from './stand.ts';

/**
 * Each part that the chart can switch on, without the kinds of Prometheus and what the API server
 * rejects of the made-up settings.
 */
const { serviceMonitor: _monitor, alerts: _alerts, defaults, ...PARTS } = FULL;
const { affinity: _affinity, topologySpreadConstraints: _spread, ...SETTINGS } = defaults;
const { 'pcr-issuer': _same, ...COMPONENTS } = PARTS.components;
const EVERYTHING = { ...PARTS, defaults: SETTINGS, components: COMPONENTS };
const { version: _version, ...VALUES } = EXAMPLE.spec;
/** Changes rules of roles, and arguments and an annotation of a Deployment. */
const OTHER_VALUES = { ...VALUES, podServices: true, image: { repository: 'other' } };

let stand: Stand;
let helm: Helm;
let directory: string;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hand-over-'));
  stand = await startStand({ isInstalled: false });
  helm = await startHelm(stand.cluster.kubeconfig);
});
after(async () => {
  rmSync(directory, { recursive: true });
  helm.close();
  await stand.close();
});

function run(...args: readonly string[]): Promise<CommandResult> {
  return countersign([...args, '--kubeconfig', stand.cluster.kubeconfig]);
}

async function install(values: object, ...flags: readonly string[]): Promise<CommandResult> {
  const file = join(directory, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  return run('install', '--values', file, ...flags);
}

async function uninstalled(): Promise<void> {
  const { code, stdout, stderr } = await run('uninstall');
  assert.equal(code, 0, stderr);
  // Many of a kind are one line.
  assert.match(
    stdout,
    /^(?:deployment\/countersign-signer -n \S+|\d+ objects of kind deployment) deleted/m,
  );
  await until('no component is left', WAIT_MS, async () => {
    return (await deployments()).length === 0;
  });
}

async function deployments(): Promise<readonly ManagedObject[]> {
  const labels = 'app.kubernetes.io/name=countersign,app.kubernetes.io/component!=operator';
  const args = ['get', 'deployments', '-A', '-l', labels, '-o', 'json', '--show-managed-fields'];
  const { items } = JSON.parse((await stand.cluster.kubectl(args)).stdout) as {
    items: readonly ManagedObject[];
  };
  return items;
}

/** Types the command that ends a message. */
async function type(message: string): Promise<void> {
  const [, command] = / (kubectl .*)$/m.exec(message) ?? [];
  assert.ok(command, message);
  const { code, stderr } = await runCommands(stand, command);
  assert.equal(code, 0, stderr);
}

/** Only `install` manages the Deployments, and nothing names another installer. */
async function assertOwn(): Promise<void> {
  for (const each of await deployments()) {
    const { managedFields, ownerReferences, labels, annotations } =
      each.metadata as ManagedObject['metadata'] & {
        managedFields: readonly { manager: string; operation: string }[];
      };
    const appliers = managedFields.filter(({ operation }) => operation === 'Apply');
    assert.deepEqual(
      appliers.map(({ manager }) => manager),
      ['countersign-install'],
    );
    const marks = Object.keys({ ...labels, ...annotations }).filter((key) =>
      /helm\.sh|^operator\.countersign/.test(key),
    );
    assert.deepEqual([ownerReferences, marks], [undefined, []], titleOf(each));
  }
}

test('a second manager that applies the same objects conflicts on no kind', async (t) => {
  const file = join(directory, 'everything.json');
  writeFileSync(file, JSON.stringify(EVERYTHING));
  const objects = await plannedObjects([file]);
  const writer = createWriter(stand.client, 'countersign-operator');
  const names = objects.map(({ metadata }) => metadata.namespace ?? '').filter((each) => each);
  for (const name of new Set(names))
    await writer.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const each of objects)
    await until(`${titleOf(each)} is applied`, WAIT_MS, async () => {
      try {
        return await writer.apply(each);
      } catch (error) {
        // A definition is served a moment later.
        if (error instanceof KubeError && error.status === 404) throw error;
        assert.fail(`${titleOf(each)}: ${String(error)}`);
      }
    });
  t.diagnostic(
    `${objects.length} objects of ${new Set(objects.map(({ kind }) => kind)).size} kinds`,
  );
  const conflicts: string[] = [];
  // Nothing but a dry run, so that it manages nothing afterwards.
  const query = { fieldManager: 'second', force: false, dryRun: 'All' };
  for (const each of objects) {
    await stand.client
      .request({
        method: 'PATCH',
        path: ruleOf(each).resource.object(each.metadata),
        body: each,
        contentType: 'application/apply-patch+yaml',
        query,
      })
      .catch((error: unknown) => conflicts.push(`${titleOf(each)}: ${String(error)}`));
  }
  assert.deepEqual(conflicts, []);
  const taken = await install(EVERYTHING);
  assert.equal(taken.code, 0, taken.stderr);
  await uninstalled();
});

test('install refuses what the operator manages, and takes over once it let go', async () => {
  await stand.installOperator();
  await stand.start();
  await stand.install();
  await stand.condition('Progressing', 'False');
  const forced = await install(OTHER_VALUES, '--force-conflicts');
  assert.equal(forced.code, 2, forced.stdout);
  const refused = await install(OTHER_VALUES);
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(refused.stderr, /the operator manages this installation: change countersigns/);
  await type(refused.stderr);
  const taken = await install(OTHER_VALUES);
  assert.equal(taken.code, 0, taken.stderr);
  await assertOwn();
});

test('uninstall leaves what the operator has adopted', async () => {
  await stand.install();
  await stand.condition('Progressing', 'False');
  await healed(stand);
  const before_ = (await deployments()).length;
  const { stdout, stderr } = await run('uninstall');
  assert.doesNotMatch(stdout, / deleted(?:;|$)/m);
  assert.match(stderr, /installed by another program: .*kubectl delete countersigns/);
  assert.equal((await deployments()).length, before_);
});

test('the chart takes over from the operator, and install from the chart', async () => {
  await stand.cluster.kubectl(['delete', 'countersigns', 'cluster', '--cascade=orphan']);
  const over = ['--take-ownership', '--force-conflicts'];
  await helm(['upgrade', '--install', RELEASE, CHART, ...over], VALUES);
  assert.doesNotMatch((await run('uninstall')).stdout, / deleted(?:;|$)/m);
  const refused = await install(OTHER_VALUES);
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(refused.stderr, /Helm release countersign in namespace default manages this/);
  const taken = await install(OTHER_VALUES, '--force-conflicts');
  assert.equal(taken.code, 0, taken.stderr);
  await assertOwn();
  await type(taken.stderr);
  assert.match((await helm.tried(['uninstall', RELEASE])).stderr, /release: not found/);
  assert.ok((await deployments()).length > 0);
  await uninstalled();
});
