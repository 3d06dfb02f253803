// SPDX-License-Identifier: Apache-2.0
/**
 * `make demo`: the whole story on a real cluster, of its own or of the user (`--kubeconfig`,
 * `--image`, `--yes`). Exit code 0 only if every step held, 2 if the user did not agree.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDirectory, removeDirectory } from '../test/cluster/directory.ts';
import { whyNoRealPods } from '../test/cluster/real-pods/build.ts';
import type { Cast } from './cast/cast.ts';
import { OwnCluster } from './cast/own-cluster.ts';
import { Pods } from './cast/pods.ts';
import { Processes } from './cast/processes.ts';
import { audit } from './steps/audit.ts';
import { denied } from './steps/denied.ts';
import { createSigners } from './steps/install.ts';
import { People } from './steps/people.ts';
import { credentials, mutualTls } from './steps/pods.ts';
import { publicCertificate } from './steps/public.ts';
import { NotAgreed, agree } from './agree.ts';
import { invitation } from './invitation.ts';
import { Story, type Tell } from './story.ts';

const { values } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    acme: { type: 'boolean', default: false },
    kubeconfig: { type: 'string' },
    image: { type: 'string' },
    yes: { type: 'boolean', default: false },
  },
});
const interrupted = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      // Cleaning up takes a while. The line shows that the signal arrived.
      process.stderr.write('ending the demo\n');
      resolve();
    });
});

const story = new Story();
const directory = makeDirectory();
let cast: Cast | undefined;
let telling: Promise<void> | undefined;
try {
  const ended = interrupted.then(() => Promise.reject(new Error('interrupted')));
  if (values.kubeconfig !== undefined)
    cast = await Promise.race([agree(values.kubeconfig, values), ended]);
  telling = tellStory();
  await Promise.race([telling, ended]);
  const held = story.finish();
  process.exitCode = held ? 0 : 1;
  if (values.keep && cast !== undefined) {
    invite(cast);
    // A listener of signals keeps no process alive, and pods are nobody's children here.
    const alive = setInterval(() => undefined, 60_000);
    await interrupted;
    clearInterval(alive);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof NotAgreed ? 2 : 1;
} finally {
  story.stop();
  // A step that still runs would make again what is deleted.
  if (cast instanceof OwnCluster) await telling;
  await cast?.end().catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  });
  removeDirectory(directory);
}

async function tellStory(): Promise<void> {
  const title =
    cast === undefined
      ? 'A Kubernetes of its own: control plane and two kubelets'
      : 'A Kubernetes of yours: what the demo makes there, it deletes at its end';
  const met = await story.step(title, meet);
  if (met === undefined) return;
  const installed = await story.step(
    'The components, each with an identity of its own',
    async (tell) => {
      await met.install(tell);
      return met;
    },
  );
  if (installed === undefined) return;
  await story.step('Two ClusterSigners: a managed CA, and the user’s own', (tell) =>
    createSigners(met, tell),
  );
  const people = new People(met);
  await story.step('jane becomes a user with a client certificate', async (tell) => {
    await people.prepare();
    await people.jane(tell);
  });
  const workloads = await story.step(
    'Pods on two nodes get credentials from their kubelets',
    (tell) => credentials(met, stranger(people.directory), tell),
  );
  if (workloads !== undefined) {
    await story.step('Workloads that read those files speak mutual TLS', (tell) =>
      mutualTls(workloads, tell),
    );
  }
  if (met instanceof Pods)
    await story.step('The signers were rolled meanwhile', (tell) => met.meanwhile(tell));
  await story.step('A key type outside the profile: the pod never starts', (tell) =>
    denied(met, tell),
  );
  await story.step('One thing more than the rule names is not approved', (tell) =>
    people.more(tell),
  );
  await story.step('system:masters is refused even when approved by hand', (tell) =>
    people.masters(met, tell),
  );
  await story.step('What no rule covers waits for kubectl certificate approve', (tell) =>
    people.byHand(tell),
  );
  if (met.isAudited) {
    await story.step('The audit log: no refusal, nothing outside the components’ roles', (tell) =>
      audit(met, tell),
    );
  }
  if (values.acme)
    await story.step('A certificate of an ACME server: its name is proved by a file', (tell) =>
      publicCertificate(met.cluster, tell),
    );
}

/** Starts a cluster, unless there is the user's. Pods really run where they can. */
async function meet(tell: Tell): Promise<Cast> {
  cast ??= await startCast(tell);
  tell((await cast.cluster.kubectl(['get', 'nodes', '-o', 'wide'])).stdout);
  return cast;
}

async function startCast(tell: Tell): Promise<Cast> {
  const reason = await whyNoRealPods();
  if (reason === undefined) return Pods.start(join(directory, 'image'));
  tell(`containers are faked, and processes take their parts: ${reason}`);
  return Processes.start();
}

/** jane's certificate is of another CA than the pods'. */
function stranger(directory: string): string {
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  return read('jane.key') + read('jane.crt');
}

function invite(kept: Cast): void {
  const { kubeconfig, directory } = kept.cluster;
  const { values: file } = kept;
  process.stdout.write(invitation({ kubeconfig, directory, values: file, places: kept.places() }));
}
