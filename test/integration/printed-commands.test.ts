// SPDX-License-Identifier: Apache-2.0
/**
 * Every command of the pages of the checks runs as it is printed, by a shell, the real kubectl and
 * this program: it does what it says, or finds nothing of the name that was put in place of a
 * placeholder. What it would write is not stored.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { apply } from '../support/cluster/apply.ts';
import { applyManifests } from '../support/cluster/installation.ts';
import { createTeam } from '../support/cluster/pods.ts';
import { openShell, type Shell } from '../support/cluster/shell.ts';

const ROOT = join(import.meta.dirname, '../..');
const TEAM = 'team-printed';
/** Commands that run together: each waits for the API server most of its time. */
const AT_ONCE = 4;

let cluster: Cluster;
let shell: Shell;
before(async () => {
  // Of its own: others check that all is well, and here the definitions of both operators are.
  cluster = await startCluster({ nodes: 0 });
  await applyManifests(cluster);
  await cluster.kubectl(['apply', '-R', '-f', join(ROOT, 'deploy/crds')]);
  await established(cluster, 'crd/countersigns.operator.countersign.dev');
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/operator/countersign.yaml')]);
  await createTeam(cluster, TEAM, []);
  // What `--from-cluster` finds.
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/examples/workload.yaml')]);
  shell = openShell(cluster);
  shell.writeProgram('kubectl', kubectlWithoutWrites(join(cluster.directory, 'kubectl')));
  // The chart's own tests run helm.
  shell.writeProgram('helm', 'exit 0');
  const values = { signers: [{ name: 'example.com/workload' }, { name: 'example.com/people' }] };
  writeFileSync(join(shell.directory, 'values.yaml'), JSON.stringify(values));
  // What a person replaces by names of their own.
  const metadata = { name: 'web', namespace: TEAM };
  await apply(cluster, { apiVersion: 'v1', kind: 'Secret', metadata });
});
after(async () => {
  shell.close();
  await cluster.stop();
});

/** The verbs that write and can be tried. */
function kubectlWithoutWrites(kubectl: string): string {
  const verbs = 'annotate|apply|cordon|create|delete|label|patch|scale';
  return [
    `case " $* " in *" --dry-run="*) exec '${kubectl}' "$@" ;; esac`,
    'for word in "$@"; do',
    `  case "$word" in ${verbs}) exec '${kubectl}' "$@" --dry-run=server ;; esac`,
    'done',
    `exec '${kubectl}' "$@"`,
  ].join('\n');
}

/** Page → the lines of its blocks of shell, each line on the first page that has it. */
const PRINTED = new Map<string, readonly string[]>();
const seen = new Set<string>();
for (const page of globSync('docs/checks/*.md', { cwd: ROOT }).sort()) {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const lines = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)]
    .flatMap(([, block = '']) => block.split('\n'))
    .filter((line) => line !== '' && !line.startsWith('kube-apiserver ') && !seen.has(line));
  for (const line of lines) seen.add(line);
  if (lines.length > 0) PRINTED.set(page, lines);
}

function filledIn(line: string): string {
  const { certFile, keyFile } = cluster.clientCa;
  return line
    .replaceAll('SIGNER-NAME', 'example.com/workload')
    .replaceAll('FINGERPRINT', `sha256:${'0'.repeat(64)}`)
    .replaceAll('NAMESPACE', TEAM)
    .replaceAll('SECRET', 'web')
    .replaceAll('WRONG', 'wrong')
    .replaceAll(/\b(?:NAME|NODE|POD)\b/g, 'none-such')
    .replaceAll('ca.crt', certFile)
    .replaceAll('ca.key', keyFile);
}

/**
 * What kubectl and this program say of a name that nothing has, and `countersign install` beside
 * the object of the operator, which this cluster has for other commands.
 */
const NOTHING =
  /not found|NotFound|there is no|the cluster has no|does not exist|no \w+ is called|the operator manages this installation/i;

/**
 * What is wrong with a command: nothing where it ends well, or finds no object of a name that
 * nothing has.
 */
async function faultOf(command: string): Promise<string> {
  const { code, stderr } = await shell.run(command);
  return code === 0 || NOTHING.test(stderr) ? '' : `exit ${String(code)}: ${command}\n${stderr}`;
}

describe(
  'real kubectl and this program can run each command on the pages of the checks',
  { concurrency: AT_ONCE },
  () => {
    assert.ok(seen.size > 40, String(seen.size));
    for (const [page, lines] of PRINTED) {
      test(page, async () => {
        for (const line of lines) assert.equal(await faultOf(filledIn(line)), '', line);
      });
    }
  },
);

test('a command with an unknown category, kind or flag fails', async () => {
  for (const wrong of [
    // The fault that this test was made for: a category has the name.
    'kubectl describe countersign cluster',
    'kubectl get nosuchkinds',
    'kubectl get pods --no-such-flag',
    'countersign explain --no-such-flag',
    'countersign explain',
  ])
    assert.notEqual(await faultOf(wrong), '', wrong);
});
