// SPDX-License-Identifier: Apache-2.0
/**
 * The kit against three signers on the real API server: what docs/reference/conformance.md says is
 * so.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import type { CaseOutcome } from '#conformance/case.ts';
import { isConformant, type Report } from '#conformance/report/report.ts';
import { RUN_LABEL } from '#conformance/runner/created-objects.ts';
import { CELLS } from '../support/conformance/page.ts';
import {
  RUNS,
  SIGNERS,
  argumentsOf,
  conformanceOf,
  runOf,
  startSigners,
  type ConformanceRun,
} from '../support/conformance/cluster-signers.ts';
import { userWith } from '../support/conformance/users.ts';
import { BUNDLE } from '../support/cluster/countersign.ts';
import type { Fixture } from '../support/cluster/fixture.ts';

/** Of the cluster. */
const NODES = ['node-1', 'node-2'];

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
function published({ of }: ConformanceRun, { results }: Report): readonly string[] {
  const rows = new Map(page.split('\n').map((line) => [cellsOf(line)[0], cellsOf(line)]));
  return results.map(
    ({ id }) => `${id} ${rows.get(id)?.[3 + SIGNERS.indexOf(of)] ?? 'without a row'}`,
  );
}

/** What was seen, by case. */
function evidenceOf({ results }: Report, of: CaseOutcome): Readonly<Record<string, string>> {
  const found = results.filter(({ outcome }) => outcome === of);
  return Object.fromEntries(found.map(({ id, evidence }) => [id, evidence]));
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

  test('a user who impersonates nodes writes their requests; forbidden cases are skipped', async () => {
    const { cluster } = fixture;
    const users = NODES.map((node) => `system:node:${node}`);
    const impersonate = { verbs: ['impersonate'], apiGroups: [''] };
    const kubeconfig = await userWith(cluster, 'impersonator', [
      { verbs: ['create', 'get', 'delete'], apiGroups: [''], resources: ['pods'] },
      {
        verbs: ['create', 'get', 'list', 'watch', 'delete'],
        resources: ['podcertificaterequests'],
      },
      { ...impersonate, resources: ['users'], resourceNames: users },
      { ...impersonate, resources: ['groups'], resourceNames: ['system:nodes'] },
    ]);
    const pods = runOf('countersign', 'pcr');
    const report = await conformanceOf(cluster, pods, ['--kubeconfig', kubeconfig]);
    assert.deepEqual(evidenceOf(report, 'fail'), {});
    const {
      'PCR-04': foreign = '',
      'PCR-05': longer = '',
      'PCR-26': _ofKubernetesOnly,
      ...rest
    } = evidenceOf(report, 'skip');
    // NodeRestriction: no volume of the pod asks for a certificate of these signer names.
    for (const evidence of [foreign, longer]) assert.match(evidence, /refused it: .*forbidden/);
    for (const [id, evidence] of Object.entries(rest))
      assert.match(
        evidence,
        /^needs: |^the profile does not state that its leaves name Services/,
        id,
      );
    // Stubs with contents, odd annotations and key types, which no kubelet sends.
    for (const id of ['PCR-43', 'PCR-47', 'PCR-48', 'PCR-51', 'PCR-56']) {
      assert.ok(id in evidenceOf(report, 'pass'), id);
    }
    assert.deepEqual(report.left, []);
  });

  test('a user with only create gets those cases run and the missing permissions listed', async () => {
    const { cluster } = fixture;
    const kubeconfig = await userWith(cluster, 'requester', [
      { verbs: ['create', 'get', 'delete'], resources: ['certificatesigningrequests'] },
    ]);
    // The rule own-name approves users who ask for their own name.
    const people = runOf('countersign', 'csr');
    const run = { ...people, profile: { ...people.profile, commonName: 'somebody-else' } };
    const flags = ['--timeout', '2s', '--kubeconfig', kubeconfig];
    const report = await conformanceOf(cluster, run, flags);
    assert.ok(isConformant(report));
    assert.match(
      evidenceOf(report, 'skip')['CSR-04'] ?? '',
      /needs: update certificates\.k8s\.io\/certificatesigningrequests\/approval/,
    );
    assert.deepEqual(report.left, []);
  });
});

test('the conformance runs leave no objects behind', async () => {
  assert.equal(await ownObjects(), '');
});

test('no case fails for Countersign', () => {
  const ours = page.split('\n').filter((line) => /^\| (?:CSR|PCR|CTB|CR)-\d/.test(line));
  const failed = ours.filter((line) => cellsOf(line)[3] === CELLS.fail);
  assert.deepEqual(failed, []);
});

test('Ctrl-C during a conformance run leaves no objects behind', async () => {
  const flags = await argumentsOf(fixture.cluster, runOf('countersign', 'csr'));
  const args = [BUNDLE, ...flags, '--quiet', '1h'];
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

// Last: for the others there are nodes.
test('without a kubelet the runner evaluates its own requests and skips pod cases', async () => {
  const { cluster } = fixture;
  await Promise.all(NODES.map((node) => cluster.kubectl(['cordon', node])));
  const [pods, bundles] = await Promise.all([
    conformanceOf(cluster, runOf('countersign', 'pcr')),
    conformanceOf(cluster, runOf('countersign', 'ctb')),
  ]);
  for (const report of [pods, bundles]) {
    assert.deepEqual(evidenceOf(report, 'fail'), {});
    assert.deepEqual(report.left, []);
  }
  const skipped = { ...evidenceOf(pods, 'skip'), ...evidenceOf(bundles, 'skip') };
  for (const id of ['PCR-21', 'PCR-22', 'PCR-50', 'PCR-57', 'CTB-41', 'CTB-48', 'CTB-52']) {
    assert.match(skipped[id] ?? '', /no node takes the pod: 0\/2 nodes are available/, id);
  }
  const passed = evidenceOf(pods, 'pass');
  for (const id of ['PCR-01', 'PCR-04', 'PCR-24', 'PCR-28', 'PCR-51', 'PCR-59']) {
    assert.ok(id in passed, id);
  }
});
