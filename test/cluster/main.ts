// SPDX-License-Identifier: Apache-2.0
import { parseArgs } from 'node:util';
import { startCluster, type ClusterOptions } from './cluster.ts';
import { isVersion, versions } from './releases.ts';
import { stateFileOf } from './state.ts';

function readOptions(): ClusterOptions {
  const { values } = parseArgs({
    options: {
      version: { type: 'string', default: '1.37' },
      nodes: { type: 'string', default: '2' },
      kubeconfig: { type: 'string' },
    },
  });
  if (!isVersion(values.version))
    throw new Error(`--version ${values.version}: want one of ${versions.join(', ')}`);
  return {
    version: values.version,
    nodes: Number(values.nodes),
    ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
    log: (line) => console.error(line),
  };
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
const starting = startCluster(readOptions());
const cluster = await Promise.race([starting, ended]);
if (cluster !== undefined) {
  console.log(`Kubernetes ${cluster.version} at ${cluster.server}; Ctrl-C ends it

  export KUBECONFIG=${cluster.kubeconfig}
  export COUNTERSIGN_TEST_CLUSTER=${stateFileOf(cluster.directory)}
  alias kubectl=${cluster.directory}/kubectl
`);
  await ended;
}
console.error('ending');
await (await starting).stop();
clearInterval(alive);
