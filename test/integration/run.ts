// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the integration tests of one Kubernetes version: starts a cluster that the test files share,
 * then node:test over the files. `--only <text>` picks files by name, `--part short` leaves out
 * those that take long, `--part long` runs them alone. `--share 1/3` takes every third file, from
 * the second on.
 *
 * A file that fails runs once more, alone, on a cluster of its own. If it passes then, the run
 * passes, and its last lines say `FLAKY <file>: <test>`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../cluster/cluster.ts';
import { isVersion, versions, type Version } from '../cluster/releases.ts';
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
const version = parseVersion(values.version);

function parseVersion(text: string): Version {
  if (isVersion(text)) return text;
  throw new Error(`--version ${text}: want one of ${versions.join(', ')}`);
}

const [taken = NaN, of = NaN] = values.share.split('/').map(Number);
if (!(taken >= 0 && taken < of)) throw new Error(`--share ${values.share}: want 0/3, 1/3 or 2/3`);

/** The tests that failed at first and passed when they ran again; .ci/run prints them. */
const FLAKY = join(import.meta.dirname, '../../.cache/flaky');

/**
 * Two at once keep both cores busy; each file works in namespaces and on signer names of its own.
 */
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
    'healed-faults',
    'image',
    'injection',
    'kubelet-states',
    'ledger',
    'ledger-api',
    'ledger-facts',
    'ledger-reading',
    'ledger-run',
    'library-kinds',
    'named-faults',
    'namespaced-signers',
    'own-leaves',
    'own-tls',
    'pod-refresher-rights',
    'printed-commands',
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

/** The names of the tests that failed, by file. */
type Failures = ReadonlyMap<string, readonly string[]>;

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

const failures = await runOnCluster(files);
const failedAgain = new Map<string, readonly string[]>();
for (const file of failures.keys()) {
  if (stopped.signal.aborted) break;
  console.log(`${file} failed: it runs once more, alone, on a cluster of its own`);
  for (const [name, tests] of await runOnCluster([file])) failedAgain.set(name, tests);
}
const lines = [...failures].flatMap(([file, tests]) => {
  const word = failedAgain.has(file) ? 'FAILED' : 'FLAKY';
  return (failedAgain.get(file) ?? tests).map((name) => `${word} ${file}: ${name}\n`);
});
process.stdout.write(lines.join(''));
mkdirSync(dirname(FLAKY), { recursive: true });
writeFileSync(FLAKY, lines.filter((line) => line.startsWith('FLAKY')).join(''));
if (stopped.signal.aborted || failedAgain.size > 0) process.exitCode = 1;

/** Starts a cluster, runs these files on it and stops it. */
async function runOnCluster(names: readonly string[]): Promise<Failures> {
  const cluster = await startCluster({
    version,
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
  });
  try {
    return await runFiles(names, stateFileOf(cluster.directory));
  } finally {
    await cluster.stop();
  }
}

async function runFiles(names: readonly string[], state: string): Promise<Failures> {
  const report = join(mkdtempSync(join(tmpdir(), 'integration-')), 'failures');
  const runner = spawn(
    process.execPath,
    [
      '--test',
      `--test-concurrency=${CONCURRENCY}`,
      '--test-timeout=900000',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      `--test-reporter=${join(import.meta.dirname, 'failures-reporter.ts')}`,
      `--test-reporter-destination=${report}`,
      ...names.map((name) => join(import.meta.dirname, name)),
    ],
    {
      stdio: 'inherit',
      env: { ...process.env, COUNTERSIGN_TEST_CLUSTER: state, COUNTERSIGN_TEST_VERSION: version },
    },
  );
  const kill = (): boolean => runner.kill('SIGTERM');
  stopped.signal.addEventListener('abort', kill);
  await once(runner, 'close');
  stopped.signal.removeEventListener('abort', kill);
  const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n') : [];
  rmSync(dirname(report), { recursive: true, force: true });
  const failures = new Map<string, string[]>();
  for (const line of lines.filter((each) => each !== '')) {
    const { file, name } = JSON.parse(line) as { file: string; name: string };
    failures.set(file, [...(failures.get(file) ?? []), name]);
  }
  // The runner itself failed: each file counts as failed.
  if (runner.exitCode !== 0 && failures.size === 0) {
    for (const name of names) failures.set(name, [`the runner ended with ${runner.exitCode}`]);
  }
  return failures;
}
