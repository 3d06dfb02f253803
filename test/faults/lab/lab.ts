// SPDX-License-Identifier: Apache-2.0
import { join } from 'node:path';
import { createClient, type Client } from '#kube/client/client.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';
import { applyCrds } from '../../certmanager/crds.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type {
  ComponentName,
  ComponentOptions,
  OptionalComponentName,
} from '../../support/cluster/component-process.ts';
import { EVERY_COMPONENT } from '../../support/cluster/component-process.ts';
import { allowCertificateRequesters } from '../../support/cluster/requests/certificate-request.ts';
import { applySigner, example, waitForUsableCa } from '../../support/cluster/fixture.ts';
import { applyManifests, grantClientCa } from '../../support/cluster/installation.ts';
import { createTeam } from '../../support/cluster/pods.ts';
import { startProxy, type Proxy } from '../proxy/proxy.ts';
import { accessThrough, type Access } from './kubeconfig.ts';
import { createLoad, type Load } from './load.ts';
import { supervise, type Supervised } from './supervised.ts';
import { NAMESPACE } from './wanted.ts';
import { allowRequesters } from '../../support/cluster/requests/csr.ts';

/** Countersign at work behind a fault proxy, on a real control plane that may be killed as well. */
export interface Lab {
  readonly cluster: Cluster;
  readonly proxy: Proxy;
  readonly seed: number;
  /** By the name of their doors: the six, and whatever `start` added. */
  readonly components: ReadonlyMap<string, Supervised>;
  component(client: string): Supervised;
  access(client: string): Access;
  /** Starts one more process of a component, behind a door of its own. */
  readonly start: StartBehindDoor;
  /** Past the proxy. */
  readonly admin: Client;
  readonly load: Load;
  stop(): Promise<void>;
}

/** @param client - the name of its door */
type StartBehindDoor = (
  name: ComponentName | OptionalComponentName,
  client: string,
  more?: Partial<ComponentOptions>,
) => Promise<Supervised>;

/** What is shipped, as `make` builds it. */
const BUNDLE = join(import.meta.dirname, '../../../dist/countersign.mjs');

/** Runs the bundle with `preload`, modules of test/faults/preload, loaded before it. */
export function programWith(...preload: readonly string[]): readonly string[] {
  const modules = preload.map((name) => join(import.meta.dirname, `../preload//${name}.ts`));
  return [process.execPath, ...modules.flatMap((path) => ['--import', path]), BUNDLE];
}

export interface LabInit {
  /** Without kubelets; what the lab makes in it stays. */
  readonly cluster: Cluster;
  readonly seed: number;
  /** Modules of test/faults/preload that are loaded into each component. */
  readonly preload?: readonly string[];
  /**
   * Called when the roles are there and no component runs yet; starts what else there is.
   *
   * @returns further arguments of the components
   */
  readonly before?: (start: StartBehindDoor) => Promise<ArgumentsOf>;
}

/** Arguments of a component, beside those that each has. */
export type ArgumentsOf = (name: ComponentName) => readonly string[];

const LOGGED = ['--log-level', 'debug'];

export async function openLab({ cluster, seed, preload = [], before }: LabInit): Promise<Lab> {
  const components = new Map<string, Supervised>();
  const accesses = new Map<string, Access>();
  const named = <T>(all: ReadonlyMap<string, T>, client: string): T => {
    const found = all.get(client);
    if (found === undefined) throw new Error(`there is no component ${client}`);
    return found;
  };
  const proxy = await startProxy({
    upstream: await upstreamOf(cluster),
    seed,
    kill: (client) => named(components, client).kill(),
  });
  const admin = await connect(cluster);
  const requester = await connect(cluster, { user: 'jane', groups: ['dev'] });
  const load = createLoad(requester, admin);

  async function start(
    name: ComponentName | OptionalComponentName,
    client: string,
    more: Partial<ComponentOptions> = {},
  ): Promise<Supervised> {
    const door = await proxy.open(client);
    const directory = join(cluster.directory, 'faults', client);
    const serviceAccount = `countersign-${name}`;
    const access = await accessThrough({ admin, door, serviceAccount, ca: proxy.ca, directory });
    accesses.set(client, access);
    const supervised = await supervise(client, directory, {
      name,
      kubeconfig: access.kubeconfig,
      program: programWith(...preload),
      ...more,
      args: [...LOGGED, ...(more.args ?? [])],
    });
    components.set(client, supervised);
    return supervised;
  }

  const stop = async (): Promise<void> => {
    load.stop();
    await Promise.all([...components.values()].map((each) => each.stop()));
    await proxy.stop();
    await Promise.all([admin.close(), requester.close()]);
  };
  try {
    await install(cluster, async () => {
      const argumentsOf = (await before?.(start)) ?? (() => []);
      return Promise.all(
        EVERY_COMPONENT.map((name) => start(name, name, { args: argumentsOf(name) })),
      );
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    cluster,
    proxy,
    seed,
    components,
    component: (client) => named(components, client),
    access: (client) => named(accesses, client),
    start,
    admin,
    load,
    stop,
  };
}

async function install(
  cluster: Cluster,
  startAll: () => Promise<readonly Supervised[]>,
): Promise<void> {
  await Promise.all([applyManifests(cluster), applyCrds(cluster)]);
  await allowRequesters(cluster);
  await allowCertificateRequesters(cluster);
  await createTeam(cluster, NAMESPACE, ['web']);
  await grantClientCa(cluster, { name: 'people-ca', signerName: 'example.com/people' });
  const all = await startAll();
  for (const name of ['workload', 'people']) await applySigner(cluster, example(name));
  for (const name of ['workload', 'people']) await waitForUsableCa(cluster, name);
  await Promise.all(all.map((each) => each.ready()));
}

async function connect(
  cluster: Cluster,
  impersonate?: { readonly user: string; readonly groups: readonly string[] },
): Promise<Client> {
  const connection = await loadConnection({ kubeconfig: cluster.kubeconfig, clock: Date.now });
  return createClient({
    connection,
    clock: Date.now,
    monotonic: () => performance.now(),
    userAgent: 'fault-lab',
    impersonate,
  });
}

async function upstreamOf(cluster: Cluster): Promise<{ server: string; ca: string }> {
  const { kubeconfig, server } = cluster;
  const connection = await loadConnection({ kubeconfig, clock: Date.now });
  const { tls } = await connection.credentials();
  return { server, ca: tls.ca ?? '' };
}
