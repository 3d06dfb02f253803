// SPDX-License-Identifier: Apache-2.0
/** The kinds of cluster that Countersign is installed on, with pods that run. */
import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { startCluster, type Cluster } from '../cluster/cluster.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import type { IpFamily } from '../cluster/real-pods/addresses.ts';
import { whyNoRealPods } from '../cluster/real-pods/build.ts';
import { startStorage } from '../cluster/storage.ts';
import { until } from '../cluster/until.ts';
import { SYSTEM } from '../helm/stand.ts';
import { mapImages } from '../image/mapped.ts';
import { COUNTERSIGN, NODE, type ShippedPod } from '../real-pods/shipped.ts';
import { create, nodePod } from '../real-pods/stand.ts';
import { BY_PROXY, CREDENTIALS, issuesByProxy, startOutside, type Outside } from './proxy-alone.ts';
import { USER, restrict } from './restricted-v2.ts';
import { WITH_GROUP, keepsRecords, recordsAnswer, saysWhatToSet } from './root-volumes.ts';
import { WITH_VALUES, createServingSigner, type Installed, type WayName } from './ways.ts';
import { faultOfNodes, startWindowsNode } from './windows-node.ts';

const WAIT_MS = 300_000;
/** A rollout waits for new pods. */
const KUBECTL_MS = 600_000;

/** `skip` of these tests: false, or why they are skipped here. */
export const SKIP: string | false = (await whyNoRealPods(['IPv6', 'IPv4'])) ?? false;

/** Something besides the cluster that must be stopped before it. */
interface Running {
  stop(): Promise<void>;
}

/** What one kind of cluster has that others have not. */
export interface Kind {
  readonly ipFamilies?: readonly IpFamily[];
  readonly prepare?: (cluster: Cluster) => Promise<Running | undefined>;
  /** Values of the installation besides those of each kind. */
  readonly values?: Omit<Installed, 'signers'>;
  /** Default: all. */
  readonly ways?: readonly WayName[];
  /** Returns why the pods of Countersign can never be Ready. */
  readonly faultOf?: (pods: readonly ShippedPod[]) => string | undefined;
  /** Asserts what is special about the pods of Countersign, which are Ready. */
  readonly verify?: (cluster: Cluster, pods: readonly ShippedPod[]) => Promise<void>;
  /** Asserts what is special after a person and a pod got a certificate. */
  readonly verifyUsed?: (cluster: Cluster) => Promise<void>;
  /** Tests of this kind alone, by name. Each leaves the cluster without an installation. */
  readonly tests?: Readonly<Record<string, (cluster: Cluster) => Promise<void>>>;
}

/** Components that take no more than these values to be Ready. */
const MORE_COMPONENTS = {
  acme: { signers: [{ name: 'example.com/public' }] },
  components: Object.fromEntries(
    [
      'acme',
      'acme-responder',
      'acme-solver',
      'pod-refresher',
      'ledger',
      'trust-distributor',
      'bundle-endpoint',
      'federation',
      'external-signer',
      'notifier',
    ].map((each) => [each, { enabled: true, replicas: 1 }]),
  ),
};

export const KINDS = {
  'IPv6 only': { ipFamilies: ['IPv6'], verify: servedByIPv6 },
  'dual-stack, IPv6 first': { ipFamilies: ['IPv6', 'IPv4'], verify: servedByIPv6 },
  'restricted-v2': {
    prepare: async (cluster) => {
      // Each way to install makes the namespace by itself.
      await cluster.kubectl(['create', 'namespace', SYSTEM]);
      await restrict(cluster, SYSTEM);
      await cluster.kubectl(['delete', 'namespace', SYSTEM]);
      return undefined;
    },
    verify: (_, pods) => {
      for (const { spec } of pods) {
        const { runAsUser, fsGroup } = spec.securityContext;
        assert.deepEqual({ runAsUser, fsGroup }, { runAsUser: USER, fsGroup: USER });
      }
      return Promise.resolve();
    },
  },
  'with a node of Windows': {
    prepare: async (cluster) => {
      const node = await startWindowsNode(cluster);
      const storage = await startStorage(cluster);
      return {
        stop: async () => {
          await storage.stop();
          await node.stop();
        },
      };
    },
    values: MORE_COMPONENTS,
    faultOf: faultOfNodes,
  },
  'volumes of root': {
    prepare: (cluster) => startStorage(cluster, { ownedByRoot: true }),
    values: WITH_GROUP,
    ways: WITH_VALUES,
    verify: recordsAnswer,
    verifyUsed: keepsRecords,
    tests: { 'without an fsGroup, the ledger logs which value to set': saysWhatToSet },
  },
  'egress by a proxy alone': egressByProxy(),
} as const satisfies Readonly<Record<string, Kind>>;

function egressByProxy(): Kind {
  let outside: Outside | undefined;
  return {
    prepare: async (cluster) => {
      await cluster.kubectl(['create', 'namespace', CREDENTIALS.namespace]);
      outside = await startOutside(cluster);
      return outside;
    },
    values: BY_PROXY,
    // The others render the same pods from the same values.
    ways: ['helm install', 'countersign install', 'the operator'],
    verifyUsed: async (cluster) => {
      assert.ok(outside);
      await issuesByProxy(cluster, outside);
    },
  };
}

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
  let running: Running | undefined;
  const remove = async (): Promise<void> => {
    await running?.stop();
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
    running = await kind.prepare?.(cluster);
    return { cluster, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Asserts that a pod gets the readiness and the metrics of every pod of Countersign by its IPv6
 * address, as kubelets and scrapers do.
 */
async function servedByIPv6(cluster: Cluster): Promise<void> {
  await createServingSigner(cluster);
  const labels = ['-l', 'app.kubernetes.io/name=countersign,app.kubernetes.io/component!=operator'];
  const path = 'jsonpath={.items[*].status.podIP}';
  const args = ['get', 'pods', '-n', SYSTEM, ...labels, '-o', path];
  const addresses = (await cluster.kubectl(args)).stdout.split(' ');
  assert.ok(addresses.length >= 6 && addresses.every(isIPv6), addresses.join(' '));
  const urls = addresses.flatMap((address) => [
    `http://[${address}]:8080/readyz`,
    `https://[${address}]:8443/metrics`,
  ]);
  const name = 'reads-by-address';
  await create(cluster, nodePod(name, `const urls = ${JSON.stringify(urls)}; (${READ})()`));
  await until('readiness and metrics come from each address', WAIT_MS, async () => {
    const read = ['get', 'pod', name, '-o', 'jsonpath={.status.phase}'];
    const phase = (await cluster.kubectl(read)).stdout;
    if (phase === 'Succeeded') return true;
    throw new Error(`${phase}: ${(await cluster.kubectl(['logs', name])).stdout}`);
  });
  await cluster.kubectl(['delete', 'pod', name]);
}

/** Reads until each answers: the certificates of the ports come a moment after the pods. */
const READ = `async () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  for (const url of urls) {
    for (let status = 0; status !== 200; ) {
      status = await fetch(url).then((answer) => answer.status, (error) => String(error.cause));
      if (status !== 200) {
        console.log(url, status);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }
  process.exit();
}`;
