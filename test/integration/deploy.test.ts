// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { until } from '../cluster/until.ts';
import { EVERY_COMPONENT } from '../support/cluster/component-process.ts';

const root = join(import.meta.dirname, '../..');
const components: readonly string[] = EVERY_COMPONENT;
const run = promisify(execFile);

/** As a file of values for the chart. */
const ACME_ALONE = {
  components: {
    acme: { enabled: true },
    'acme-solver': { enabled: true },
    'acme-responder': { enabled: true },
  },
  acme: {
    signers: [{ name: 'example.com/public' }],
    solverSecrets: [{ namespace: 'countersign-dns', name: 'dns-example-com' }],
    dnsWebhooks: ['acme.example.com'],
  },
};

interface CheckedPolicy {
  readonly metadata: { readonly name: string; readonly generation: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly typeChecking?: { readonly expressionWarnings?: readonly unknown[] };
  };
}

const inSystem = ['-n', 'countersign-system'];

/** Once all are type-checked, those of whose expressions the API server has something to say. */
function policiesThatWarn(): Promise<readonly string[]> {
  return until('every policy is type-checked', 60_000, async () => {
    const { stdout } = await cluster.kubectl(['get', 'validatingadmissionpolicies', '-o', 'json']);
    const { items } = JSON.parse(stdout) as { items: readonly CheckedPolicy[] };
    const isChecked = items.every(
      ({ metadata, status }) => status?.observedGeneration === metadata.generation,
    );
    if (!isChecked) return undefined;
    return items
      .filter(({ status }) => status?.typeChecking?.expressionWarnings !== undefined)
      .map(({ metadata }) => metadata.name);
  });
}

// A cluster of its own: what is installed here has the names that others work with.
let cluster: Cluster;
before(async () => (cluster = await startCluster({ nodes: 1 })));
after(() => cluster.stop());

test('kubectl apply -k installs everything without a warning', async () => {
  // The definition of ClusterSigner is a moment later than its first mention.
  const { stderr } = await until('everything is applied', 30_000, () =>
    cluster.kubectl(['apply', '-k', root]),
  );
  assert.doesNotMatch(stderr, /would violate PodSecurity|unknown field|deprecated/);
});

test('the restricted pod security standard admits a pod of every component', async () => {
  await until('every Deployment has its pod', 30_000, async () => {
    const path = 'jsonpath={.items[*].metadata.labels.app\\.kubernetes\\.io/component}';
    const { stdout } = await cluster.kubectl(['get', 'pods', ...inSystem, '-o', path]);
    return components.every((name) => stdout.split(' ').includes(name));
  });
});

test('the namespace of the CA keys has no workload and no ServiceAccount', async () => {
  const all = 'pods,deployments,serviceaccounts';
  const { stdout } = await cluster.kubectl(['get', all, '-n', 'countersign-keys', '-o', 'name']);
  assert.equal(stdout.replace('serviceaccount/default', '').trim(), '');
});

test('the API server accepts the examples, and kubectl get prints their columns', async () => {
  await cluster.kubectl(['apply', '-f', join(root, 'deploy/examples')]);
  const { stdout } = await cluster.kubectl(['get', 'csigner']);
  assert.match(stdout, /^NAME +SIGNER +READY +REASON +CA EXPIRES +AGE\n/);
  assert.match(stdout, /^people +example\.com\/people/m);
  await cluster.kubectl(['delete', '-f', join(root, 'deploy/examples'), '--wait=false']);
});

test('manifests for ACME alone apply, their policies compile, and their pods exist', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'manifests-'));
  const values = join(directory, 'values.yaml');
  await writeFile(values, stringify(ACME_ALONE));
  const { stdout: printed } = await run(process.execPath, [
    join(root, 'src/cli/main.ts'),
    'manifests',
    '--values',
    values,
  ]);
  await writeFile(join(directory, 'all.yaml'), printed);
  const before = await policiesThatWarn();
  await cluster.kubectl(['create', 'namespace', 'countersign-dns']);
  await cluster.kubectl(['apply', '-f', join(directory, 'all.yaml')]);
  await rm(directory, { recursive: true });
  await until('every Deployment of ACME has its pod', 60_000, async () => {
    const path = 'jsonpath={.items[*].metadata.labels.app\\.kubernetes\\.io/component}';
    const { stdout } = await cluster.kubectl(['get', 'pods', ...inSystem, '-o', path]);
    const found = stdout.split(' ');
    return ['acme', 'acme-responder', 'acme-solver'].every((name) => found.includes(name));
  });
  const after = await policiesThatWarn();
  assert.deepEqual(after, before);
  const role = ['get', 'role', 'countersign-acme-solver', '-n', 'countersign-dns', '-o', 'name'];
  assert.match((await cluster.kubectl(role)).stdout, /countersign-acme-solver/);
});
