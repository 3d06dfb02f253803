// SPDX-License-Identifier: Apache-2.0
/**
 * `make test-shells`: bash, zsh and fish complete commands, and names of a real cluster. Nothing
 * else here needs zsh and fish.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCluster, type Cluster } from '../../cluster/cluster.ts';
import { established } from '../../cluster/established.ts';
import { until } from '../../cluster/until.ts';
import { apply } from '../../support/cluster/apply.ts';
import { BUNDLE } from '../../support/cluster/countersign.ts';
import { zsh } from './zsh.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** A name takes two seconds at most, and then there is none: a busy machine is asked again. */
const WAIT_MS = 120_000;

let cluster: Cluster | undefined;
let environment: NodeJS.ProcessEnv;
const directory = mkdtempSync(join(tmpdir(), 'shells-'));

before(async () => {
  for (const shell of ['zsh', 'fish']) assertInstalled(shell);
  mkdirSync(join(directory, 'bin'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`;
  writeFileSync(join(directory, 'bin/countersign'), program, { mode: 0o755 });
  cluster = await startCluster({ version: '1.37' });
  const path = `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`;
  environment = { ...process.env, PATH: path, KUBECONFIG: cluster.kubeconfig };
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/crds')]);
  await established(cluster, 'crd/clustersigners.countersign.dev');
  await cluster.kubectl(['apply', '-f', join(ROOT, 'deploy/examples/workload.yaml')]);
  await apply(cluster, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name: 'example.com:shells:primary' },
    spec: {
      signerName: 'example.com/shells',
      trustBundle: readFileSync(cluster.clientCa.certFile, 'utf8'),
    },
  });
});

after(async () => {
  await cluster?.stop();
  rmSync(directory, { recursive: true });
});

function assertInstalled(shell: string): void {
  const { error } = spawnSync(shell, ['--version']);
  assert.equal(error, undefined, `${shell} is not installed: apt-get install zsh fish`);
}

/** A line, and what Tab makes of its last word. */
const NAMES: readonly [line: string, word: string][] = [
  ['countersign authority show', 'show'],
  ['countersign authority prepare work', 'workload'],
  ['countersign issued --signer example', 'example.com/workload'],
  ['countersign inspect ctb/example.com:she', 'ctb/example.com:shells:primary'],
  ['countersign inspect -n kube-sys', 'kube-system'],
];

function bash(line: string): string {
  const script = `source <(countersign completion bash)
COMP_LINE='${line}' COMP_POINT=${line.length} COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_countersign; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const options = { cwd: directory, env: environment, encoding: 'utf8' } as const;
  const [found = ''] = execFileSync('bash', ['-c', script], options).split('\n');
  // The shell replaces what is behind the last colon or equals sign of the word.
  const typed = line.slice(line.lastIndexOf(' ') + 1);
  return typed.slice(0, Math.max(typed.lastIndexOf(':'), typed.lastIndexOf('=')) + 1) + found;
}

function fish(line: string): string {
  const script = `countersign completion fish | source; complete -C '${line}'`;
  const options = { cwd: directory, env: environment, encoding: 'utf8' } as const;
  const printed = execFileSync('fish', ['--no-config', '-c', script], options);
  return printed.split(/[\t\n]/)[0] ?? '';
}

const lastWord = (line: string): string => line.trimEnd().split(' ').at(-1) ?? '';

const SHELLS: Readonly<Record<string, (line: string) => string | Promise<string>>> = {
  bash,
  fish,
  zsh: async (line) => lastWord((await zsh(directory, line, environment)).line),
};

for (const [shell, completed] of Object.entries(SHELLS)) {
  for (const [line, word] of NAMES) {
    test(`${shell} makes ${word} of the last word of: ${line}`, async () => {
      let last = '';
      await until(`${line} ends with ${word}`, WAIT_MS, async () => {
        last = await completed(line);
        return last === word || undefined;
      }).catch(() => assert.equal(last, word));
    });
  }
}

test('zsh shows the description of what has one', async () => {
  const { seen } = await zsh(directory, 'countersign approve', environment);
  assert.match(seen, /approve +-- approve requests that wait for a person/);
});

test('zsh shows nothing beside what has no description', async () => {
  const { seen } = await zsh(directory, 'countersign issued -o ', environment);
  assert.match(seen, /table +[a-z]+ +[a-z]+ /);
  assert.ok(!seen.includes('--'), JSON.stringify(seen));
});

test('fish shows descriptions', () => {
  const script = "countersign completion fish | source; complete -C 'countersign appro'";
  const options = { env: environment, encoding: 'utf8' } as const;
  const printed = execFileSync('fish', ['--no-config', '-c', script], options);
  assert.match(printed, /^approve\tapprove requests that wait for a person/m);
});
