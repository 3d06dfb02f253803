// SPDX-License-Identifier: Apache-2.0
/**
 * A real cluster where CAs are replaced under load: every component twice, and all that is said
 * kept.
 */
import { join } from 'node:path';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { CLUSTER_SIGNERS } from '#component/signers/cluster-signers.ts';
import { startCluster, type Cluster } from '../../../cluster/cluster.ts';
import { until } from '../../../cluster/until.ts';
import { certificateAuthority } from '../../../support/ca/generated.ts';
import { COMPONENTS, type ComponentName } from '../../../support/cluster/component-process.ts';
import { BUNDLE, countersign } from '../../../support/cluster/countersign.ts';
import { applySigner, example, waitForReady } from '../../../support/cluster/fixture.ts';
import {
  KEYS_NAMESPACE,
  applyManifests,
  componentKubeconfig,
} from '../../../support/cluster/installation.ts';
import { createTeam } from '../../../support/cluster/pods.ts';
import { Load, NAMESPACE } from './load.ts';
import { Replicas } from './replicas.ts';
import { listen, type Story } from './story.ts';
import { caSecretManifest } from '../../../support/ca/ca-secret.ts';
import { allowRequesters } from '../../../support/cluster/requests/csr.ts';
import { monotonic } from '#app/process.ts';
import { applyText } from '../../../support/cluster/apply.ts';

export const MANAGED = 'workload';
export const OWN = 'people';
export const WAIT_MS = 120_000;

export interface Stand {
  readonly cluster: Cluster;
  readonly admin: Client;
  readonly story: Story;
  readonly load: Load;
  readonly replicas: Readonly<Record<ComponentName, Replicas>>;
  signer(name: string): Promise<ClusterSigner>;
  /** Annotations, and fields of the spec. */
  change(name: string, patch: object): Promise<void>;
  /** The one that is in that phase, as soon as one is; another than `except`. */
  inPhase(name: string, phase: AuthorityStatus['phase'], except?: string): Promise<AuthorityStatus>;
  secret(name: string): Promise<Secret | undefined>;
  stop(): Promise<void>;
}

export interface StandInit {
  readonly propagationSeconds: number;
  readonly perSecond: number;
  /** Of the managed CA. */
  readonly managed: Readonly<Record<string, unknown>>;
}

export async function openStand(init: StandInit): Promise<Stand> {
  const cluster = await startCluster();
  const ends: (() => Promise<unknown>)[] = [() => cluster.stop()];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const end of ends.toReversed()) {
      await end().catch((error: unknown) => failures.push(error));
    }
    // Whatever could not be ended, the rest is.
    if (failures.length > 0) throw new AggregateError(failures, 'the stand did not end well');
  };
  try {
    const admin = await connect(cluster);
    const requester = await connect(cluster, { user: 'jane', groups: ['dev'] });
    ends.push(() => admin.close());
    ends.push(() => requester.close());
    await install(cluster);
    const replicas = await startReplicas(cluster, init, ends);
    const story = await listen(admin);
    ends.push(() => story.stop());
    for (const signer of [managedSigner(init), ownSigner()]) await applySigner(cluster, signer);
    for (const name of [MANAGED, OWN]) await waitForReady(cluster, name, 'Checked');
    await Promise.all(Object.values(replicas).map((each) => each.ready()));
    const { perSecond } = init;
    const podSigner = 'example.com/workload';
    const csrSigners = [podSigner, 'example.com/people'];
    const load = new Load({ admin, requester, perSecond, podSigner, csrSigners });
    ends.push(() => load.stop());
    return { ...asked(admin), cluster, admin, story, load, replicas, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Asked = Pick<Stand, 'signer' | 'change' | 'inPhase' | 'secret'>;

function asked(admin: Client): Asked {
  const signer = (name: string): Promise<ClusterSigner> =>
    admin.request({ method: 'GET', path: CLUSTER_SIGNERS.object({ name }) });
  return {
    signer,
    change: async (name, body) => {
      const path = CLUSTER_SIGNERS.object({ name });
      const contentType = 'application/merge-patch+json';
      await admin.request({ method: 'PATCH', path, contentType, body });
    },
    inPhase: (name, phase, except) =>
      until(`a CA of ${name} is ${phase}`, WAIT_MS, async () => {
        const all = (await signer(name)).status?.authorities ?? [];
        return all.find((each) => each.phase === phase && each.fingerprint !== except);
      }),
    secret: (name) => {
      const path = SECRETS.object({ namespace: KEYS_NAMESPACE, name });
      return admin.request<Secret>({ method: 'GET', path }).catch(() => undefined);
    },
  };
}

/** The shipped manifests, with roles for a bundle of the user's own CA as well. */
async function install(cluster: Cluster): Promise<void> {
  await applyManifests(cluster);
  const output = join(cluster.directory, 'rbac');
  const signers = ['example.com/workload', 'example.com/people'];
  const { code, stderr } = await countersign(
    [
      'rbac',
      ...signers.flatMap((name) => ['--signer', name]),
      ...signers.flatMap((name) => ['--bundle', `${name.replace('/', ':')}:primary`]),
      ...['workload-ca', 'people-ca'].flatMap((name) => ['--secret', `${KEYS_NAMESPACE}/${name}`]),
      '--output',
      output,
    ],
    undefined,
    BUNDLE,
  );
  if (code !== 0) throw new Error(stderr);
  // The policy that holds which bundles attester writes is in a folder of its own.
  const policies = join(output, 'admission/components.yaml');
  await cluster.kubectl(['apply', '-f', output, '-f', policies]);
  await allowRequesters(cluster);
  await createTeam(cluster, NAMESPACE, ['web']);
  const { certificate, key } = await certificateAuthority();
  const input = caSecretManifest('people-ca', { certificate, key }, 'example.com/people');
  await applyText(cluster, input);
}

async function startReplicas(
  cluster: Cluster,
  { propagationSeconds }: StandInit,
  ends: (() => Promise<unknown>)[],
): Promise<Stand['replicas']> {
  const program = [process.execPath, BUNDLE];
  const args = ['--propagation', `${propagationSeconds}s`];
  const made = await Promise.all(
    COMPONENTS.map(async (name) => {
      const kubeconfig = await componentKubeconfig(cluster, name);
      const replicas = new Replicas(name, { kubeconfig, program, args });
      ends.push(() => replicas.stop());
      await replicas.start();
      return [name, replicas] as const;
    }),
  );
  return Object.fromEntries(made) as Record<ComponentName, Replicas>;
}

/** Pods and people of one signer, from a CA that lives two hours. */
function managedSigner({ managed }: StandInit): object {
  const signer = example('workload');
  const { requests } = example('people').spec;
  const authority = {
    managed: { ...signer.spec.authority.managed, duration: '2h', renewBefore: '30m', ...managed },
  };
  const profile = { ...signer.spec.profile, maxDuration: '1h' };
  return { ...signer, spec: { ...signer.spec, authority, profile, requests } };
}

function ownSigner(): object {
  const signer = example('people');
  const profile = { ...signer.spec.profile, maxDuration: '1h' };
  return { ...signer, spec: { ...signer.spec, profile, trustBundle: { name: 'primary' } } };
}

/** A client of our own: the administrator's, or a ServiceAccount's by its kubeconfig. */
export async function connect(
  { kubeconfig }: Pick<Cluster, 'kubeconfig'>,
  impersonate?: { readonly user: string; readonly groups: readonly string[] },
): Promise<Client> {
  const connection = await loadConnection({ kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic };
  return createClient({ connection, ...clocks, userAgent: 'rotation-test', impersonate });
}
