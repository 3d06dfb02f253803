// SPDX-License-Identifier: Apache-2.0
/** `make demo`: the whole story on a real cluster. Exit code 0 only if every step held. */
import { parseArgs } from 'node:util';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCluster, type Cluster } from '../test/cluster/cluster.ts';
import type { Installation } from '../test/support/cluster/installation.ts';
import type { Identity } from './peers/talk.ts';
import { denied } from './steps/denied.ts';
import { createSigners, install } from './steps/install.ts';
import { People } from './steps/people.ts';
import { credentials, mutualTls } from './steps/pods.ts';
import { audit } from './steps/audit.ts';
import { Story } from './story.ts';

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const interrupted = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
});

const story = new Story();
let cluster: Cluster | undefined;
let installation: Installation | undefined;
try {
  await Promise.race([
    tellStory(),
    interrupted.then(() => Promise.reject(new Error('interrupted'))),
  ]);
  const held = story.finish();
  process.exitCode = held ? 0 : 1;
  if (values.keep && cluster !== undefined) {
    invite(cluster);
    await interrupted;
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await installation?.stop();
  await cluster?.stop();
}

async function tellStory(): Promise<void> {
  const own = await story.step(
    'A Kubernetes of its own: control plane and two kubelets',
    async (tell) => {
      cluster = await startCluster();
      tell((await cluster.kubectl(['get', 'nodes', '-o', 'wide'])).stdout);
      return cluster;
    },
  );
  if (own === undefined) return;
  const installed = await story.step('Five components, five identities', async (tell) => {
    installation = await install(own, tell);
    return installation;
  });
  if (installed === undefined) return;
  await story.step('Two ClusterSigners: a managed CA, and the user’s own', (tell) =>
    createSigners(own, installed, tell),
  );
  const people = new People(own);
  await story.step('jane becomes a user with a client certificate', async (tell) => {
    await people.prepare();
    await people.jane(tell);
  });
  const pods = await story.step('Pods on two nodes get credentials from their kubelets', (tell) =>
    credentials(own, tell),
  );
  if (pods !== undefined) {
    await story.step('Processes that read those files speak mutual TLS', (tell) =>
      mutualTls(pods, { ...pods.api, ...stranger(people.directory) }, tell),
    );
  }
  await story.step('A key type outside the profile: the pod never starts', (tell) =>
    denied(own, tell),
  );
  await story.step('One thing more than the rule names is not approved', (tell) =>
    people.more(tell),
  );
  await story.step('system:masters is refused even when approved by hand', (tell) =>
    people.masters(installed, tell),
  );
  await story.step('What no rule covers waits for kubectl certificate approve', (tell) =>
    people.byHand(tell),
  );
  await story.step('The audit log: five users, no refusal, nothing outside their roles', (tell) =>
    audit(own, tell),
  );
}

/** jane's certificate is of another CA than the pods'. */
function stranger(directory: string): Pick<Identity, 'credentials'> {
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const credentials = join(directory, 'stranger.pem');
  writeFileSync(credentials, read('jane.key') + read('jane.crt'), { mode: 0o600 });
  return { credentials };
}

function invite({ kubeconfig, directory }: Cluster): void {
  process.stdout.write(`
The cluster stays up until Ctrl-C. Try:

  export KUBECONFIG=${kubeconfig}
  alias kubectl=${directory}/kubectl
  alias countersign='${process.execPath} ${join(import.meta.dirname, '../src/cli/main.ts')}'
  kubectl get clustersigners,clustertrustbundles,csr
  kubectl get podcertificaterequests -A
  kubectl describe clustersigner workload
  kubectl get events.events.k8s.io -A
  countersign authority show
  countersign authority prepare workload --dry-run
`);
}
