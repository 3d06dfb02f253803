// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { DEFAULT_PROFILE, type ConformanceProfile } from '#conformance/profile.ts';
import type { Connection } from '#kube/client/connection.ts';
import type { Run } from '#conformance/runner/run.ts';
import { trackCreatedObjects } from '#conformance/runner/created-objects.ts';
import { createPermissions } from '#conformance/runner/permissions.ts';
import { NOW, ROOT } from './leaf.ts';
import { startTurnClock } from './turn-clock.ts';
import { memoryCluster, type MemoryCluster, type React } from './memory-cluster.ts';

/** In the name of everything that the runner makes. */
const RUN = 'memory';
export const NAMESPACE = 'team-a';

/** In memory, a request that is not answered at once is never answered. */
const TIMEOUT_MS = 500;
/** For the watch to catch up. */
const QUIET_MS = 300;

export interface MemoryRun {
  readonly run: Run;
  readonly cluster: MemoryCluster;
}

/** A run on a cluster in memory without nodes, and with a signer that reacts. */
export function memoryRun(
  signerName: string,
  react: (cluster: MemoryCluster) => React,
  profile: Partial<ConformanceProfile> = {},
): MemoryRun {
  const turns = startTurnClock();
  const now = (): number => NOW + turns.elapsed();
  const cluster: MemoryCluster = memoryCluster({
    serves: {
      'certificates.k8s.io/v1': [
        'certificatesigningrequests',
        'certificatesigningrequests/approval',
        'certificatesigningrequests/status',
        'podcertificaterequests',
        'podcertificaterequests/status',
        'clustertrustbundles',
      ],
      'cert-manager.io/v1': ['certificaterequests'],
    },
    // What would try the API server itself, and not the signer.
    mayNot: (verb, resource) =>
      verb === 'deletecollection' ||
      resource === 'pods' ||
      (verb === 'update' && resource === 'clustertrustbundles'),
    now,
    react: (path, object) => react(cluster)(path, object),
  });
  const { client } = cluster;
  const connection: Connection = {
    server: 'https://memory',
    credentials: () => Promise.resolve({ tls: {} }),
    invalidate: () => undefined,
  };
  const run: Run = {
    client,
    connection,
    clientAs: () => client,
    clientWith: () => client,
    signerName,
    profile: { ...DEFAULT_PROFILE, maxDuration: 24 * 3600, ...profile },
    anchors: { pem: ROOT.pem, from: 'ca.crt' },
    id: RUN,
    namespace: NAMESPACE,
    serviceAccount: 'web',
    image: 'none',
    clock: now,
    delay: turns.delay,
    random: (size) => randomBytes(size),
    signal: new AbortController().signal,
    timeoutMs: TIMEOUT_MS,
    quietMs: QUIET_MS,
    permissions: createPermissions(client),
    created: trackCreatedObjects(client, RUN),
    progress: () => undefined,
  };
  return { run, cluster };
}

/** What is special about a request of the runner, by its name; '' of somebody else's. */
export function scenarioOf({ metadata }: { readonly metadata: { readonly name: string } }): string {
  return new RegExp(`^conformance-${RUN}-([a-z0-9]+)-`).exec(metadata.name)?.[1] ?? '';
}
