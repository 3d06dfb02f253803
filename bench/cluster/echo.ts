// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { startContender, type ContenderProcess } from './contender-process.ts';
import { createPeer } from './peer.ts';

/** The signer name that the echo answers. */
export const ECHO = 'bench.example.com/echo';

/**
 * Starts `pcr-echo`, which answers requests with certificates that it made before they came.
 *
 * @param stubs - every PKCS#10 request to come
 */
export async function startEcho(
  cluster: Cluster,
  stubs: readonly string[],
): Promise<ContenderProcess> {
  const stubsFile = join(cluster.directory, 'stubs.json');
  writeFileSync(stubsFile, JSON.stringify(stubs));
  const kubeconfig = await createPeer(cluster, { name: 'echo', signerName: ECHO });
  const flags = ['--kubeconfig', kubeconfig, '--signer-name', ECHO, '--stubs', stubsFile];
  const command = [...cluster.tool('pcr-echo'), ...flags] as const;
  return startContender({ name: 'echo', command }, cluster.directory);
}
