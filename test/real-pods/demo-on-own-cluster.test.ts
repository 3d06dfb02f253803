// SPDX-License-Identifier: Apache-2.0
/** The demo on a cluster of the user's: the same story, and nothing of it is left. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { mapImages } from '../image/mapped.ts';
import { COUNTERSIGN } from './shipped.ts';

const DEMO = join(import.meta.dirname, '../../demo/main.ts');

let directory: string;
let cluster: Cluster;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'demo-own-'));
  const { countersign } = await mapImages(join(directory, 'image'));
  cluster = await startCluster({ realPods: true, images: { [COUNTERSIGN]: countersign } });
});
after(async () => {
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
});

function demo(): Promise<{ readonly code: number; readonly said: string }> {
  const args = [DEMO, '--kubeconfig', cluster.kubeconfig, '--image', COUNTERSIGN, '--yes'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), said: stdout + stderr });
    });
  });
}

/** The names of all objects that a story could leave, of the cluster and in it. */
async function objects(): Promise<readonly string[]> {
  const kinds = [
    'namespaces',
    'customresourcedefinitions',
    'clusterroles',
    'clusterrolebindings',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'priorityclasses',
    'flowschemas',
    'prioritylevelconfigurations',
    'clustertrustbundles',
    'certificatesigningrequests',
    'roles',
    'rolebindings',
  ].join(',');
  const { stdout } = await cluster.kubectl(['get', kinds, '-A', '-o', 'name']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

test('the demo tells its story on a cluster of the user and leaves nothing there', async () => {
  const existing = await objects();
  const { code, said } = await demo();
  assert.equal(code, 0, said);
  assert.match(said, /All 11 steps held/);
  assert.match(said, /nothing of it is left/);
  assert.deepEqual(await objects(), existing);
});

test('the demo refuses a cluster that has an object of its names, and changes nothing', async () => {
  await cluster.kubectl(['create', 'namespace', 'team-a']);
  const existing = await objects();
  const { code, said } = await demo();
  assert.equal(code, 1);
  assert.match(said, /has objects of these names already: namespace\/team-a\./);
  assert.deepEqual(await objects(), existing);
});
