// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the integration tests of one Kubernetes version: starts a cluster that the test files share,
 * then node:test over the files. `--only <text>` picks files by name, `--part short` leaves out those
 * that take long, `--part long` runs them alone. `--share 1/3` takes every third file, from the second on: CI takes another
 * share at each commit.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../cluster/cluster.ts';
import { isVersion, versions } from '../cluster/releases.ts';
import { stateFileOf } from '../cluster/state.ts';

const { values } = parseArgs({
  options: {
    version: { type: 'string', default: '1.37' },
    only: { type: 'string', default: '' },
    part: { type: 'string', default: 'all' },
    kubeconfig: { type: 'string' },
    share: { type: 'string', default: '0/1' },
  },
});
const { version } = values;
if (!isVersion(version))
  throw new Error(`--version ${version}: want one of ${versions.join(', ')}`);

const [taken = NaN, of = NaN] = values.share.split('/').map(Number);
if (!(taken >= 0 && taken < of)) throw new Error(`--share ${values.share}: want 0/3, 1/3 or 2/3`);

/** Two at once keep both cores busy; each file works in namespaces and on signer names of its own. */
const CONCURRENCY = 2;

/** A minute or more each, or a cluster of their own: `make test-long`. */
const LONG = new Set(
  [
    'acme-solving',
    'authority-verbs',
    'certificate-requests',
    'check',
    'commands',
    'conformance',
    'explain',
    'fairness',
    'federated-installations',
    'federation',
    'first-certificate',
    'image',
    'injection',
    'ledger',
    'ledger-api',
    'ledger-facts',
    'ledger-run',
    'library-kinds',
    'named-faults',
    'namespaced-signers',
    'own-tls',
    'pod-refresher-rights',
    'replicas',
    'resilience',
    'revocation',
    'restored-etcd',
    'rights',
    'served',
    'service-names',
    'notifier',
    'spiffe',
    'trust-distributor',
  ].map((name) => `${name}.test.ts`),
);

/** Two minutes under load on a cluster of its own: `make test-rotation-cluster`. */
const ALONE = new Set(['rotation.test.ts']);

/** Which files each part has. */
const PARTS: Readonly<Record<string, (name: string) => boolean>> = {
  all: () => true,
  short: (name) => !LONG.has(name) && !ALONE.has(name),
  long: (name) => LONG.has(name),
};
const inPart = PARTS[values.part];
if (inPart === undefined)
  throw new Error(`--part ${values.part}: want one of ${Object.keys(PARTS).join(', ')}`);

/** What is held on 1.36 as well, besides `*.1.36.test.ts`, the suite for v1beta1. */
const ON_BOTH = ['admission.test.ts', 'cluster.test.ts', 'crd.test.ts', 'injection.test.ts'];

const all = globSync('*.test.ts', { cwd: import.meta.dirname }).sort();
const files = all
  .filter((name) =>
    version === '1.36'
      ? name.endsWith('.1.36.test.ts') || ON_BOTH.includes(name)
      : !name.endsWith('.1.36.test.ts'),
  )
  .filter((name) => name.includes(values.only) && inPart(name))
  .filter((_, index) => index % of === taken);
if (files.length === 0)
  throw new Error(`--only ${values.only}: no such test among ${all.join(', ')}`);
const missing = [...LONG, ...ALONE].filter((name) => !all.includes(name));
if (missing.length > 0) throw new Error(`no test is called ${missing.join(', ')}`);

const cluster = await startCluster({
  version,
  ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
});
const runner = spawn(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    '--test-timeout=300000',
    ...files.map((name) => join(import.meta.dirname, name)),
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      COUNTERSIGN_TEST_CLUSTER: stateFileOf(cluster.directory),
      COUNTERSIGN_TEST_VERSION: version,
    },
  },
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => runner.kill(signal));
await once(runner, 'close');
await cluster.stop();
process.exitCode = runner.exitCode ?? 1;
