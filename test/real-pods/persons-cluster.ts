// SPDX-License-Identifier: Apache-2.0
/** The cluster of `make cluster`, and a shell whose user pastes what it prints. */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../cluster/until.ts';
import { buildHelm } from '../helm/tools/build.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The images are laid out and the programs are built before the cluster starts. */
const START_MS = 300_000;
const PASTE_MS = 400_000;

export interface PersonsCluster {
  /** What it printed. */
  readonly printed: string;
  /**
   * Runs a script after a part of what was printed. As in a shell of a person, aliases count, and
   * the first failure ends it.
   *
   * @param home - a directory for what helm keeps
   */
  paste(access: string, text: string, home: string): Promise<string>;
  /** Resolves with exit code and signal. */
  interrupt(): Promise<readonly unknown[]>;
  /** For after(): does nothing where the cluster has ended. */
  kill(): void;
}

/** @param last - what the cluster prints last, before an empty line */
export async function startPersonsCluster(
  flags: readonly string[],
  last: string,
): Promise<PersonsCluster> {
  // A person has Go, which the shell of a test does not.
  await buildHelm((line) => {
    console.error(line);
  });
  const cluster: ChildProcess = spawn(
    process.execPath,
    [join(ROOT, 'test/cluster/main.ts'), ...flags],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let printed = '';
  cluster.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  try {
    await until('the cluster is there', START_MS, () => {
      assert.equal(cluster.exitCode, null);
      return printed.includes(last) && printed.endsWith('\n\n');
    });
  } catch (error) {
    cluster.kill('SIGINT');
    throw error;
  }
  return {
    printed,
    paste: async (access, text, home) => {
      const script = `set -e -o pipefail\nshopt -s expand_aliases\n${access}${text}`;
      const { stdout } = await promisify(execFile)('bash', ['-c', script], {
        timeout: PASTE_MS,
        // Not the project's own Node, which `make` puts there.
        env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: home },
      });
      return stdout;
    },
    interrupt: async () => {
      const ended = once(cluster, 'exit');
      if (!cluster.kill('SIGINT')) return [cluster.exitCode, cluster.signalCode];
      return ended;
    },
    kill: () => cluster.kill('SIGKILL'),
  };
}
