// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { startCluster, type ClusterOptions } from './cluster.ts';
import { whyNoRealPods } from './real-pods/build.ts';
import type { PodImages } from './real-pods/types.ts';
import { isVersion, versions } from './releases.ts';
import { stateFileOf } from './state.ts';

interface Asked extends ClusterOptions {
  readonly realPods: boolean;
}

function readOptions(): Asked {
  const { values } = parseArgs({
    options: {
      version: { type: 'string', default: '1.37' },
      nodes: { type: 'string', default: '2' },
      kubeconfig: { type: 'string' },
      'real-pods': { type: 'boolean', default: false },
    },
  });
  if (!isVersion(values.version))
    throw new Error(`--version ${values.version}: want one of ${versions.join(', ')}`);
  return {
    version: values.version,
    nodes: Number(values.nodes),
    realPods: values['real-pods'],
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
    log: (line) => console.error(line),
  };
}

/** The images of README.md's first certificate, from this checkout's dist/countersign.mjs. */
async function imagesIn(directory: string): Promise<PodImages> {
  const why = await whyNoRealPods();
  if (why !== undefined) throw new Error(`--real-pods: ${why}`);
  // Only here: the files of an image are no part of a cluster without pods.
  const { mapImages } = await import('../image/mapped.ts');
  const { countersign, node } = await mapImages(directory);
  const idle = ['-e', 'setInterval(() => undefined, 1e6)'];
  return {
    [`countersign:${packageJson.version}`]: countersign,
    [`registry.example/countersign:${packageJson.version}`]: countersign,
    'registry.k8s.io/pause:3.10': { ...node, entrypoint: [...(node.entrypoint ?? []), ...idle] },
  };
}

async function start(options: Asked, directory: string): ReturnType<typeof startCluster> {
  return startCluster(
    options.realPods ? { ...options, images: await imagesIn(directory) } : options,
  );
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
const images = mkdtempSync(join(tmpdir(), 'countersign-images-'));
const starting = start(options, images);
try {
  const cluster = await Promise.race([starting, ended]);
  if (cluster !== undefined) {
    const ran = options.realPods
      ? `  # Its pods run; the images are countersign:${packageJson.version}, the same in registry.example, and registry.k8s.io/pause:3.10\n`
      : '';
    console.log(`Kubernetes ${cluster.version} at ${cluster.server}; Ctrl-C ends it

  export KUBECONFIG=${cluster.kubeconfig}
  export COUNTERSIGN_TEST_CLUSTER=${stateFileOf(cluster.directory)}
  alias kubectl=${cluster.directory}/kubectl
${ran}`);
    await ended;
  }
  console.error('ending');
  await (await starting).stop();
} finally {
  rmSync(images, { recursive: true, force: true });
  clearInterval(alive);
}
