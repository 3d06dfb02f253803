// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from './binaries.ts';

export interface KubectlOptions {
  readonly input?: string;
  /** Another identity than the administrator's. */
  readonly kubeconfig?: string;
  readonly allowFailure?: boolean;
}

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Writes an executable that is kubectl for this cluster, and for no other by mistake. */
export function writeKubectl(directory: string, command: Command, kubeconfig: string): string {
  const file = join(directory, 'kubectl');
  const environment = [
    `KUBECONFIG=${kubeconfig}`,
    // Without these it would read and write below the user's home directory.
    `KUBECACHEDIR=${join(directory, 'kubectl-cache')}`,
    'KUBERC=off',
  ];
  const words = ['env', ...environment, ...command].map(quote).join(' ');
  writeFileSync(file, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  return file;
}

export async function runKubectl(
  file: string,
  args: readonly string[],
  options: KubectlOptions & { readonly timeout: number },
): Promise<KubectlResult> {
  const identity = options.kubeconfig === undefined ? [] : ['--kubeconfig', options.kubeconfig];
  const child = spawn(file, [...args.slice(0, 1), ...identity, ...args.slice(1)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: options.timeout,
    killSignal: 'SIGKILL',
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null, string | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  const command = `kubectl ${args.join(' ')}`;
  if (signal !== null) throw new Error(`${command}: no answer within ${options.timeout} ms`);
  if (code !== 0 && options.allowFailure !== true)
    throw new Error(`${command}: ${stderr.trim() || `exit code ${String(code)}`}`);
  return { code: code ?? -1, stdout, stderr };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
