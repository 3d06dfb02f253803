// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync } from 'node:fs';
import type { KubeConfig } from '@kubernetes/client-node';

/**
 * Reads several files as kubectl does (client-go, ClientConfigLoadingRules.Load). The first file
 * that sets the current context or has an entry of a name wins, and a missing or empty file counts
 * as none. client-node 2.0.1 uses the current context of the last file, which changes the cluster
 * and the identity, and rejects duplicates and missing files.
 *
 * @param config - what receives the entries
 * @throws Error if a file cannot be read, or none exists
 */
export function mergeKubeconfigs(
  config: KubeConfig,
  files: readonly string[],
  create: () => KubeConfig,
): void {
  const present = files.filter((file) => existsSync(file));
  if (present.length === 0) throw new Error('none of its files exists');
  const parts = present
    .filter((file) => readFileSync(file, 'utf8').trim() !== '')
    .map((file) => {
      const part = create();
      part.loadFromFile(file);
      return part;
    });
  config.clusters = firstOfEachName(parts.flatMap(({ clusters }) => clusters));
  config.users = firstOfEachName(parts.flatMap(({ users }) => users));
  config.contexts = firstOfEachName(parts.flatMap(({ contexts }) => contexts));
  const current = parts.map(currentContextOf).find((name) => name !== '');
  config.currentContext = current ?? '';
}

/** Its type leaves out undefined, which a file without a current context has. */
function currentContextOf({ currentContext }: { readonly currentContext?: string }): string {
  return currentContext ?? '';
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): T[] {
  const found = new Map<string, T>();
  for (const entry of entries) if (!found.has(entry.name)) found.set(entry.name, entry);
  return [...found.values()];
}
