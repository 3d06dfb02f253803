// SPDX-License-Identifier: Apache-2.0
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Cluster } from '../cluster/cluster.ts';
import { buildCertManager } from './build.ts';
import { applyCrds } from './crds.ts';
import { NAMESPACE, applyIdentities, applyWebhooks, type Served } from './manifests.ts';

/** cert-manager's controllers and its webhook, as its Helm chart would run them. */
export interface CertManager {
  stop(): Promise<void>;
}

export interface CertManagerOptions {
  /** After a failure the next attempt comes so late, as Go writes it; an hour by itself. */
  readonly minimumBackoff?: string;
}

/** Resolves once its controllers work and the API server asks its webhook. */
export async function startCertManager(
  cluster: Cluster,
  { minimumBackoff = '1h' }: CertManagerOptions = {},
): Promise<CertManager> {
  const program = await buildCertManager((line) => {
    console.error(line);
  });
  await applyCrds(cluster);
  await applyIdentities(cluster);
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(end));
  };
  const start = async (
    part: string,
    account: string,
    args: readonly string[],
  ): Promise<unknown> => {
    const kubeconfig = await cluster.serviceAccountKubeconfig(NAMESPACE, account);
    const child = spawn(program, [part, `--kubeconfig=${kubeconfig}`, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, CONTROLPLANE_OWNER_PID: String(process.pid) },
    });
    children.push(child);
    return firstLine(part, child);
  };
  try {
    // The webhook first: whatever comes to be without it has no maker, and anybody may approve it.
    const served = (await start('webhook', 'cert-manager-webhook', [])) as Served;
    await applyWebhooks(cluster, served);
    await start('controllers', 'cert-manager', [`--minimum-backoff=${minimumBackoff}`]);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a part says first, in JSON: that it works, and where. */
async function firstLine(part: string, child: ChildProcess): Promise<unknown> {
  const said: string[] = [];
  if (child.stdout === null || child.stderr === null) throw new Error('no pipes');
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    if (said.length > 100) said.shift();
  });
  const line = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).once(
      'line',
      resolve,
    );
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`cert-manager's ${part} ended:\n${said.slice(-20).join('\n')}`);
  });
  ended.catch(() => undefined);
  return JSON.parse(await Promise.race([line, ended])) as unknown;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
