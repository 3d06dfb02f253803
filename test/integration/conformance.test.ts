// SPDX-License-Identifier: Apache-2.0
/** The kit against three signers on the real API server: what docs/reference/conformance.md says is so. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { isConformant, type Report } from '../../src/conformance/report/report.ts';
import { RUN_LABEL } from '../../src/probe/own-objects.ts';
import { CELLS } from '../support/conformance/page.ts';
import {
  NAMESPACE,
  RUNS,
  SIGNERS,
  argumentsOf,
  conformanceOf,
  startSigners,
  type Run,
} from '../support/conformance/signers.ts';
import { BUNDLE, countersign } from '../support/countersign.ts';
import type { Fixture } from '../support/fixture.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/conformance.md'), 'utf8');

let fixture: Fixture;
before(async () => {
  fixture = await startSigners();
});
after(() => fixture.stop());

/** The cells of a row of the page. */
function cellsOf(line: string): readonly string[] {
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((each) => each.trim());
}

/** What the page says of one signer's cases. */
function published({ of }: Run, { results }: Report): readonly string[] {
  const rows = new Map(page.split('\n').map((line) => [cellsOf(line)[0], cellsOf(line)]));
  return results.map(
    ({ id }) => `${id} ${rows.get(id)?.[3 + SIGNERS.indexOf(of)] ?? 'without a row'}`,
  );
}

async function ownObjects(): Promise<string> {
  const kinds =
    'pods,csr,podcertificaterequests,clustertrustbundles,certificaterequests.cert-manager.io';
  const { stdout } = await fixture.cluster.kubectl([
    'get',
    kinds,
    '-A',
    '-l',
    RUN_LABEL,
    '-o',
    'name',
  ]);
  return stdout;
}

// All at once: what a run waits for is mostly the silence of those who must leave a request alone.
describe('the kit', { concurrency: true }, () => {
  for (const run of RUNS.filter((each) => each.onlyForThePage !== true)) {
    test(`${run.of} (${run.kind}): each case comes out as the page says`, async () => {
      const report = await conformanceOf(fixture.cluster, run);
      const found = report.results.map(({ id, outcome }) => `${id} ${CELLS[outcome]}`);
      const evidence = report.results.filter(({ outcome }) => outcome !== 'pass');
      assert.deepEqual(found, published(run, report), JSON.stringify(evidence, undefined, 2));
      assert.deepEqual(report.left, []);
    });
  }

  test('who may only request is judged as far as that goes, and told which rights the rest wants', async () => {
    const { cluster } = fixture;
    await cluster.kubectl(['create', 'serviceaccount', 'requester', '-n', NAMESPACE]);
    const verbs = '--verb=create,get,delete';
    await cluster.kubectl(['create', 'clusterrole', 'requester', verbs, '--resource=csr']);
    const subject = `--serviceaccount=${NAMESPACE}:requester`;
    await cluster.kubectl([
      'create',
      'clusterrolebinding',
      'requester',
      '--clusterrole=requester',
      subject,
    ]);
    const kubeconfig = await cluster.serviceAccountKubeconfig(NAMESPACE, 'requester');
    // The rule own-name approves whoever asks for himself.
    const [run] = RUNS;
    assert.ok(run !== undefined);
    const profile = { ...run.profile, commonName: 'somebody-else' };
    const args = [...(await argumentsOf(cluster, { ...run, profile })), '--timeout', '2s'];
    const own = [...args, '--kubeconfig', kubeconfig];
    const { stdout } = await countersign(own, undefined, BUNDLE);
    const report = JSON.parse(stdout) as Report;
    assert.ok(isConformant(report));
    const denied = report.results.find(({ id }) => id === 'CSR-04');
    assert.match(
      denied?.evidence ?? '',
      /needs: update certificates\.k8s\.io\/certificatesigningrequests\/approval/,
    );
    assert.deepEqual(report.left, []);
  });
});

test('nothing is left of any of them', async () => {
  assert.equal(await ownObjects(), '');
});

test('Countersign fails nothing', () => {
  const ours = page.split('\n').filter((line) => /^\| (?:CSR|PCR|CTB|CR)-\d/.test(line));
  const failed = ours.filter((line) => cellsOf(line)[3] === CELLS.fail);
  assert.deepEqual(failed, []);
});

test('Ctrl-C in the middle leaves nothing behind', async () => {
  const [run] = RUNS;
  assert.ok(run !== undefined);
  const args = [BUNDLE, ...(await argumentsOf(fixture.cluster, run)), '--quiet', '1h'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const told: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    told.push(line);
    if (line.startsWith('making')) child.kill('SIGINT');
  });
  await once(child, 'close');
  assert.equal(child.exitCode, 1, told.join('\n'));
  assert.match(told.join('\n'), /interrupted; what was made is removed/);
  assert.equal(await ownObjects(), '');
});
