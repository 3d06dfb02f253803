// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Cluster } from '../cluster/cluster.ts';
import { established } from '../cluster/established.ts';
import { until } from '../cluster/until.ts';

const moduleDirectory = join(import.meta.dirname, 'program');
const path = 'github.com/cert-manager/cert-manager';
/** Milliseconds. */
const GONE_MS = 180_000;

/**
 * The release of cert-manager that the module file names, such as `v1.21.2`, and where its sources
 * are.
 */
async function sources(): Promise<string> {
  const run = promisify(execFile);
  const env = { ...process.env, GOWORK: 'off' };
  // Three megabytes; nothing is built for it.
  const { stdout } = await run('go', ['mod', 'download', '-json', path], {
    cwd: moduleDirectory,
    env,
  });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/**
 * cert-manager's CustomResourceDefinitions, from its own release; resolves when they are served.
 */
export async function applyCrds(cluster: Cluster): Promise<void> {
  const directory = join(await sources(), 'deploy/crds');
  const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'));
  const named = files.flatMap((name) => ['-f', join(directory, name)]);
  // Too large for the annotation of a client-side apply.
  await cluster.kubectl(['apply', '--server-side', ...named]);
  await established(cluster, ...named);
}

/**
 * Resolves when they are gone: the API server removes their objects first, which takes a minute on
 * a busy machine.
 */
export async function deleteCrds(cluster: Cluster): Promise<void> {
  const directory = join(await sources(), 'deploy/crds');
  const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'));
  const named = ['--ignore-not-found', ...files.flatMap((name) => ['-f', join(directory, name)])];
  await cluster.kubectl(['delete', '--wait=false', ...named]);
  await until('the definitions of cert-manager are gone', GONE_MS, async () => {
    return (await cluster.kubectl(['get', '-o', 'name', ...named])).stdout === '';
  });
}
