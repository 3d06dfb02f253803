// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.ts';

const DIRECTORY = join(import.meta.dirname, '../../.cache/image');
export const STORAGE_CONF = join(DIRECTORY, 'storage.conf');
const POLICY = join(DIRECTORY, 'policy.json');

/** Where the root file systems of the stand-ins are put together. */
export function workDirectory(name: string): string {
  return join(DIRECTORY, name);
}

/**
 * buildah with a store of its own: vfs, and chroot instead of a container runtime, which together
 * work where a container engine does not, such as within a container.
 */
export function buildah(args: readonly string[]): Promise<string> {
  const [subcommand = '', ...rest] = args;
  const policy = takesPolicy.has(subcommand) ? ['--signature-policy', POLICY] : [];
  return run('buildah', [subcommand, ...policy, ...rest], {
    ...process.env,
    CONTAINERS_STORAGE_CONF: STORAGE_CONF,
    STORAGE_DRIVER: 'vfs',
    BUILDAH_ISOLATION: 'chroot',
  });
}

const takesPolicy: ReadonlySet<string> = new Set(['build', 'from', 'push']);

/** Ready and empty: vfs copies every layer, so what earlier builds left is not kept. */
export async function prepareStore(): Promise<void> {
  mkdirSync(DIRECTORY, { recursive: true });
  const [graph, running] = [join(DIRECTORY, 'storage'), join(DIRECTORY, 'running')];
  writeFileSync(
    STORAGE_CONF,
    `[storage]\ndriver = "vfs"\ngraphroot = "${graph}"\nrunroot = "${running}"\n`,
  );
  writeFileSync(POLICY, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }));
  await buildah(['rm', '--all']);
  await buildah(['rmi', '--all', '--force']);
}
