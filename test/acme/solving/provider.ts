// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { freePort } from '../../cluster/ports.ts';
import { until } from '../../cluster/until.ts';
import { buildGoProgram } from '../../go/build.ts';
import { apply } from '../../support/cluster/apply.ts';

/** A provider that serves its API behind the API server. */
export interface Provider {
  readonly stop: () => Promise<void>;
}

const START_MS = 60_000;

function buildProvider(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'acme-dns-provider',
      moduleDirectory: join(import.meta.dirname, 'provider'),
      onePackageAtATime: true,
      words: 'building a DNS provider of cert-manager: minutes the first time',
    },
    log,
  );
}

/**
 * Starts the provider and registers its API group. The API server reaches it by a Service that
 * names localhost.
 */
export async function startProvider(
  cluster: Cluster,
  { group, directory }: { readonly group: string; readonly directory: string },
): Promise<Provider> {
  const program = await buildProvider((line) => console.error(line));
  const port = await freePort();
  const kubeconfigs = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'];
  const args = [
    ...kubeconfigs.map((flag) => `--${flag}=${cluster.kubeconfig}`),
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${directory}`,
  ];
  const env = { ...process.env, GROUP_NAME: group, CONTROLPLANE_OWNER_PID: `${process.pid}` };
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  const service = { name: 'provider', namespace: 'default' };
  await apply(cluster, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: service,
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  const version = 'v1alpha1';
  await apply(cluster, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}` },
    spec: {
      group,
      version,
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      insecureSkipTLSVerify: true,
      service: { ...service, port },
    },
  });
  try {
    await until('the provider is served', START_MS, async () => {
      const { stdout } = await cluster.kubectl(['get', '--raw', `/apis/${group}/${version}`]);
      return stdout.includes('ChallengePayload');
    });
  } catch (error) {
    await stop();
    throw new Error(said.join('').slice(-3000), { cause: error });
  }
  return { stop };
}

if (import.meta.main) console.log(await buildProvider((line) => console.error(line)));
