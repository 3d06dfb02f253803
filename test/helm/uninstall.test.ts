// SPDX-License-Identifier: Apache-2.0
/**
 * Uninstalling loses nothing, by each way of installing: keys, records, accounts and trust are
 * there afterwards, also where a claim's data goes with the claim, and a new installation uses
 * them. Then the printed commands remove them for good.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { operatorManifests } from '#install/operator/installed.ts';
import { established } from '../cluster/established.ts';
import { startStorage } from '../cluster/storage.ts';
import { until } from '../cluster/until.ts';
import { EXAMPLE, RELEASE as OPERATOR } from '../operator/stand.ts';
import { apply, applyText } from '../support/cluster/apply.ts';
import { startComponent } from '../support/cluster/component-process.ts';
import { BUNDLE, countersign, type CommandResult } from '../support/cluster/countersign.ts';
import { waitForReady } from '../support/cluster/fixture.ts';
import { componentKubeconfig, startComponents } from '../support/cluster/installation.ts';
import { fillState, makeAccountKey, stateOf, volumeOf } from '../support/cluster/kept-state.ts';
import { CHART } from './helm.ts';
import { ONE, RELEASE, SYSTEM, runCommands, startStand, type Stand } from './stand.ts';

const ROOT = join(import.meta.dirname, '../..');
const WAIT_MS = 240_000;
/**
 * As it is shipped: six that start together from the sources need minutes where other work goes on.
 */
const PROGRAM = [process.execPath, BUNDLE];
const VALUES = { ...ONE, components: { ledger: { enabled: true } } };
const SPEC = { ...EXAMPLE.spec, components: { ledger: { enabled: true } } };

let stand: Stand;
let storage: { stop(): Promise<void> };
let directory: string;
let values: string;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uninstall-'));
  values = join(directory, 'values.yaml');
  writeFileSync(values, JSON.stringify(VALUES));
  stand = await startStand({ realPods: false });
  storage = await startStorage(stand.cluster);
});
after(async () => {
  rmSync(directory, { recursive: true });
  await stopOperator();
  await storage.stop();
  await stand.close();
});

async function run(...args: readonly string[]): Promise<CommandResult> {
  const [command = '', ...rest] = args;
  const said = await countersign([command, '--kubeconfig', stand.cluster.kubeconfig, ...rest]);
  assert.equal(said.code, 0, said.stderr);
  return said;
}

async function shell(commands: string): Promise<void> {
  const { code, stderr, stdout } = await runCommands(stand, commands);
  assert.equal(code, 0, `${commands}\n${stdout}${stderr}`);
}

/** A way to install, and how what it made is removed. */
interface Way {
  install(): Promise<void>;
  uninstall(): Promise<void>;
}

let stopOperator: () => Promise<unknown> = () => Promise.resolve();

const WAYS: Readonly<Record<string, Way>> = {
  Helm: {
    install: async () => {
      await stand.helm(['install', RELEASE, CHART], VALUES);
    },
    uninstall: async () => {
      const { stdout } = await stand.helm(['uninstall', RELEASE, '--wait']);
      // Helm lists what it keeps, with what holds it.
      for (const kept of [`[Namespace] ${SYSTEM}`, '[PersistentVolumeClaim] countersign-ledger'])
        assert.ok(stdout.includes(kept), stdout);
    },
  },
  'the command line': {
    install: async () => {
      await run('install', '--values', values);
    },
    uninstall: async () => {
      await run('uninstall');
    },
  },
  'kubectl apply': {
    install: async () => {
      const { stdout } = await countersign(['manifests', '--values', values]);
      await until('everything is applied', WAIT_MS, async () => {
        await applyText(stand.cluster, stdout);
        return true;
      });
    },
    uninstall: async () => {
      const { stderr } = await run('uninstall');
      const [, command] = /what kubectl applied goes by: (.*)$/m.exec(stderr) ?? [];
      assert.ok(command, stderr);
      await shell(command);
    },
  },
  'the operator': {
    install: async () => {
      const { cluster } = stand;
      await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/crds/operator')]);
      await established(cluster, 'crd/countersigns.operator.countersign.dev');
      await apply(cluster, ...operatorManifests(SPEC, OPERATOR));
      const kubeconfig = await cluster.serviceAccountKubeconfig(SYSTEM, 'countersign-operator');
      const operator = await startComponent({ name: 'operator', kubeconfig, program: PROGRAM });
      stopOperator = () => operator.stop();
      await apply(cluster, { ...EXAMPLE, spec: SPEC });
      await until('the claim of the ledger is there', WAIT_MS, async () => {
        return (await stand.get('persistentvolumeclaim', 'countersign-ledger')) !== undefined;
      });
      await until('the Deployments are there', WAIT_MS, async () => {
        return (await stand.get('deployment', 'countersign-ledger')) !== undefined;
      });
    },
    uninstall: async () => {
      await stand.cluster.kubectl(['delete', 'countersigns/cluster']);
      // A token of a ServiceAccount that is collected later is worth nothing.
      await until('all that it owns is collected', WAIT_MS, async () => {
        const kinds = 'deployments,serviceaccounts,roles,rolebindings,clusterroles,services';
        const mine = ['-A', '-l', 'operator.countersign.dev/managed-by=countersign', '-o', 'name'];
        const left = (await stand.cluster.kubectl(['get', kinds, ...mine])).stdout;
        return left === '';
      });
      await stopOperator();
      // What docs/how-to/operator.md says about the operator itself.
      const own = 'app.kubernetes.io/name=countersign,app.kubernetes.io/component=operator';
      await shell(
        [
          `kubectl delete deployment,serviceaccount,role,rolebinding -A -l ${own}`,
          `kubectl delete clusterrole,clusterrolebinding -l ${own}`,
          'kubectl delete validatingadmissionpolicy,validatingadmissionpolicybinding countersign-operator',
        ].join('\n'),
      );
    },
  },
};

/** A signer with a CA and a bundle of its own, which its components serve. */
async function serve(): Promise<{ stop(): Promise<void> }> {
  const { cluster } = stand;
  await established(cluster, 'crd/clustersigners.countersign.dev');
  await until('the ClusterSigner is accepted', WAIT_MS, async () => {
    await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/examples/workload.yaml')]);
    return true;
  });
  await until('the roles are there', WAIT_MS, () => componentKubeconfig(cluster, 'pcr-issuer'));
  const components = await startComponents(cluster, { program: PROGRAM });
  await waitForReady(cluster, 'workload', 'Checked');
  return components;
}

async function readyOf(): Promise<string> {
  const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}';
  const args = ['get', 'clustersigner', 'workload', '-o', path];
  return (await stand.cluster.kubectl(args)).stdout;
}

/** The commands that `uninstall` prints after what it keeps. */
function removals(stdout: string): string {
  const [, commands = ''] = stdout.split('for good, with every CA key, record and bundle:\n');
  return commands;
}

for (const [name, way] of Object.entries(WAYS)) {
  test(`by ${name}: keys, records, accounts and trust stay for a new installation`, async () => {
    const { cluster } = stand;
    await way.install();
    const components = await serve();
    await makeAccountKey(cluster);
    await fillState(cluster);
    const volume = await volumeOf(cluster);
    await components.stop();
    const before_ = await stateOf(cluster);
    await way.uninstall();
    assert.deepEqual(await stand.all('deployments'), []);
    assert.deepEqual(await stateOf(cluster), before_);
    assert.deepEqual(await volumeOf(cluster), volume);
    const { stdout } = await run('uninstall');
    for (const kept of ['persistentvolumeclaim/countersign-ledger -n', 'secret/workload-ca -n'])
      assert.ok(stdout.includes(kept), stdout);
    // No component is left that could say so.
    assert.equal(await readyOf(), 'False');
    await way.install();
    const again = await serve();
    await again.stop();
    assert.deepEqual(await stateOf(cluster), before_);
    assert.deepEqual(await volumeOf(cluster), volume);
    await way.uninstall();
  });

  test(`by ${name}: the printed commands remove for good what is left`, async () => {
    const { cluster } = stand;
    const { stdout } = await run('uninstall');
    await shell(removals(stdout));
    await until('both namespaces and the volume are gone', WAIT_MS, async () => {
      const args = ['get', 'namespaces,persistentvolumes', '-o', 'name'];
      const left = (await cluster.kubectl(args)).stdout;
      return !left.includes('countersign') && !left.includes('persistentvolume/');
    });
    const bundles = ['get', 'clustertrustbundles', '-o', 'name'];
    assert.doesNotMatch((await cluster.kubectl(bundles)).stdout, /example\.com/);
    assert.deepEqual(await stand.all('crds'), []);
    const again = await run('uninstall');
    assert.equal(again.stdout, '');
  });
}
