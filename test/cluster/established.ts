// SPDX-License-Identifier: Apache-2.0
import type { Cluster } from './cluster.ts';
import { until } from './until.ts';

const WITHIN_MS = 60_000;

/**
 * Resolves when the API server serves these CustomResourceDefinitions.
 *
 * @param named - as kubectl names them: `crd/<name>`, or `-f` and a file
 */
export async function established(cluster: Cluster, ...named: readonly string[]): Promise<void> {
  // `kubectl wait` fails at once where a definition is so young that it has no conditions at all.
  await until(`${named.join(' ')}: established`, WITHIN_MS, async () => {
    await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...named]);
    return true;
  });
}
