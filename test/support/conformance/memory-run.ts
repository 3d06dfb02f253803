// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_PROFILE, type Profile } from '../../../src/conformance/profile.ts';
import type { Connection } from '../../../src/kube/client/connection.ts';
import type { Kit } from '../../../src/conformance-runner/run.ts';
import { createOwnObjects } from '../../../src/conformance-runner/created-objects.ts';
import { createRights } from '../../../src/conformance-runner/permissions.ts';
import { NOW, ROOT } from './leaf.ts';
import { memoryCluster, type MemoryCluster, type React } from './memory-cluster.ts';

/** In the name of everything that the kit makes. */
const RUN = 'memory';
export const NAMESPACE = 'team-a';

/** Whoever is not answered at once, in memory, is not answered. */
const TIMEOUT_MS = 500;
/** For the watch to catch up. */
const QUIET_MS = 300;

export interface MemoryKit {
  readonly kit: Kit;
  readonly cluster: MemoryCluster;
}

/** The kit on a cluster in memory without nodes, and with a signer that reacts. */
export function memoryKit(
  signerName: string,
  react: (cluster: MemoryCluster) => React,
  profile: Partial<Profile> = {},
): MemoryKit {
  const started = performance.now();
  const now = (): number => NOW + Math.floor(performance.now() - started);
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
    forget: () => undefined,
  };
  const kit: Kit = {
    client,
    connection,
    clientAs: () => client,
    clientWith: () => client,
    signerName,
    profile: { ...DEFAULT_PROFILE, maxDuration: 24 * 3600, ...profile },
    anchors: { pem: ROOT.pem, from: 'ca.crt' },
    run: RUN,
    namespace: NAMESPACE,
    serviceAccount: 'web',
    image: 'none',
    clock: now,
    delay: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
    random: (size) => randomBytes(size),
    signal: new AbortController().signal,
    timeoutMs: TIMEOUT_MS,
    quietMs: QUIET_MS,
    rights: createRights(client),
    own: createOwnObjects(client, RUN),
    say: () => undefined,
  };
  return { kit, cluster };
}

/** What is special about a request of the kit, by its name; '' of somebody else's. */
export function sceneOf({ metadata }: { readonly metadata: { readonly name: string } }): string {
  return new RegExp(`^conformance-${RUN}-([a-z0-9]+)-`).exec(metadata.name)?.[1] ?? '';
}
