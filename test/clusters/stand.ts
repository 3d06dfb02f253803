// SPDX-License-Identifier: Apache-2.0
/** The kinds of cluster that Countersign is installed on, with pods that run. */
import { join } from 'node:path';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import type { IpFamily } from '../cluster/real-pods/addresses.ts';
import { whyNoRealPods } from '../cluster/real-pods/build.ts';
import { mapImages } from '../image/mapped.ts';
import { COUNTERSIGN, NODE } from '../real-pods/shipped.ts';

/** A rollout waits for new pods. */
const KUBECTL_MS = 600_000;

/** `skip` of these tests: false, or why they are skipped here. */
export const SKIP: string | false = (await whyNoRealPods(['IPv6', 'IPv4'])) ?? false;

/** What one kind of cluster has that others have not. */
export interface Kind {
  readonly ipFamilies?: readonly IpFamily[];
}

export const KINDS = {
  'IPv6 only': { ipFamilies: ['IPv6'] },
  'dual-stack, IPv6 first': { ipFamilies: ['IPv6', 'IPv4'] },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof KINDS;

export interface Stand {
  readonly cluster: Cluster;
  /** Resolves when nothing of the cluster is left. */
  remove(): Promise<void>;
}

export async function openStand(name: KindName): Promise<Stand> {
  const kind: Kind = KINDS[name];
  const directory = makeDirectory();
  let cluster: Cluster | undefined;
  const remove = async (): Promise<void> => {
    await cluster?.stop();
    removeDirectory(directory);
  };
  try {
    const { countersign, node } = await mapImages(join(directory, 'image'));
    cluster = await startCluster({
      realPods: true,
      images: { [COUNTERSIGN]: countersign, [NODE]: node },
      kubectlTimeout: KUBECTL_MS,
      nodes: 1,
      ...(kind.ipFamilies === undefined ? {} : { ipFamilies: kind.ipFamilies }),
    });
    return { cluster, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
