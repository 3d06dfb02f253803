// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { planAcmeServer, startAcmeServer, type AcmePlan } from './acme-server.ts';
import { startCluster, type ClusterOptions } from './cluster.ts';
import { access, ofAcme, ofRealPods } from './next-steps.ts';
import { whyNoRealPods } from './real-pods/build.ts';
import type { ClusterImages } from './real-pods/images.ts';
import { frontProxyFlags } from '../support/cluster/front-proxy.ts';
import { isVersion, versions } from './releases.ts';
import { startStorage } from './storage.ts';

interface Asked extends ClusterOptions {
  readonly realPods: boolean;
  /** With an ACME server. */
  readonly acme: boolean;
}

function readOptions(): Asked {
  const { values } = parseArgs({
    options: {
      version: { type: 'string', default: '1.37' },
      nodes: { type: 'string', default: '2' },
      kubeconfig: { type: 'string' },
      'real-pods': { type: 'boolean', default: false },
      acme: { type: 'boolean', default: false },
    },
  });
  if (!isVersion(values.version))
    throw new Error(`--version ${values.version}: want one of ${versions.join(', ')}`);
  if (values.acme && !values['real-pods'])
    throw new Error('--acme: want --real-pods as well; pods that do not run prove no name');
  return {
    version: values.version,
    nodes: Number(values.nodes),
    realPods: values['real-pods'],
    acme: values.acme,
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
    log: (line) => console.error(line),
  };
}

/** What a cluster of real pods has besides. */
interface Grounds {
  readonly images: ClusterImages;
  readonly acme: AcmePlan | undefined;
}

async function layGrounds({ acme }: Asked, directory: string): Promise<Grounds> {
  const why = await whyNoRealPods();
  if (why !== undefined) throw new Error(`--real-pods: ${why}`);
  // Only here: the files of an image are no part of a cluster without pods.
  const { layClusterImages } = await import('./real-pods/images.ts');
  const images = await layClusterImages(join(directory, 'images'));
  return { images, acme: acme ? await planAcmeServer() : undefined };
}

async function start(
  options: Asked,
  grounds: Grounds | undefined,
  directory: string,
): ReturnType<typeof startCluster> {
  if (grounds === undefined) return startCluster(options);
  const flags = { 'kube-apiserver': await frontProxyFlags(join(directory, 'front-proxy')) };
  const { images, acme } = grounds;
  const more =
    acme === undefined ? {} : { front: acme.front, hostPorts: [acme.port, acme.managementPort] };
  return startCluster({ ...options, ...more, flags, images: images.images });
}

// Ctrl-C during the start too: what has started by then must end.
const ended = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      resolve();
    });
  }
});
const alive = setInterval(() => undefined, 60_000);
const options = readOptions();
const directory = mkdtempSync(join(tmpdir(), 'countersign-grounds-'));
const stops: (() => Promise<void>)[] = [];
try {
  const grounds = options.realPods ? await layGrounds(options, directory) : undefined;
  const starting = start(options, grounds, directory);
  const cluster = await Promise.race([starting, ended]);
  if (cluster !== undefined) {
    if (grounds === undefined) console.log(access(cluster));
    else {
      const storage = await startStorage(cluster);
      stops.push(() => storage.stop());
      const server = grounds.acme && (await startAcmeServer(cluster, grounds.acme));
      stops.push(() => server?.stop() ?? Promise.resolve());
      console.log(access(cluster) + ofRealPods(cluster, grounds.images) + ofAcme(server));
    }
    await ended;
  }
  console.error('ending');
  for (const stop of stops) await stop();
  await (await starting).stop();
} finally {
  rmSync(directory, { recursive: true, force: true });
  clearInterval(alive);
}
