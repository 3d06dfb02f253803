// SPDX-License-Identifier: Apache-2.0
/** A shell in which people type what `check`, `explain` and their pages print. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Cluster } from '../../cluster/cluster.ts';
import { BUNDLE, type CommandResult } from './countersign.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** The machine may run other tests, and one line may apply a hundred objects. */
const COMMAND_MS = 280_000;

/**
 * bash with the kubectl and the kubeconfig of one cluster, and this program; it begins where
 * deploy/ is.
 */
export interface Shell {
  readonly directory: string;
  /** Puts a program on the PATH, in place of what is there. */
  writeProgram(name: string, body: string): void;
  run(commands: string): Promise<CommandResult>;
  close(): void;
}

export function openShell(cluster: Cluster): Shell {
  const directory = mkdtempSync(join(tmpdir(), 'shell-'));
  symlinkSync(join(ROOT, 'deploy'), join(directory, 'deploy'));
  const writeProgram = (name: string, body: string): void => {
    const file = join(directory, name);
    writeFileSync(file, `#!/bin/bash\n${body}\n`);
    chmodSync(file, 0o755);
  };
  writeProgram('countersign', `exec '${process.execPath}' '${BUNDLE}' "$@"`);
  writeProgram('kubectl', `exec '${join(cluster.directory, 'kubectl')}' "$@"`);
  const env = {
    HOME: directory,
    KUBECONFIG: cluster.kubeconfig,
    KUBE_EDITOR: 'true',
    PATH: `${directory}:${process.env['PATH'] ?? ''}`,
  };
  return {
    directory,
    writeProgram,
    run: async (commands) => {
      const child = spawn('bash', ['-o', 'pipefail', '-c', commands], {
        cwd: directory,
        env,
        timeout: COMMAND_MS,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [stdout, stderr] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      return { code: child.exitCode, stdout, stderr };
    },
    close: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
