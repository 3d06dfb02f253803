// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { keyOf, type ConfigMap, type KubeObject } from '#api/object/object.ts';
import {
  TRUST,
  TRUST_OPTED_IN,
  TRUST_WITH_STORE,
  trustConfigMapName,
} from '#api/object/trust-config-map.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { CONFIG_MAPS, NAMESPACES } from '#kube/resource/core-v1.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { createWatchSet, type WatchSet } from '#kube/watch/watch-set.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component, Controller } from '#component/contract.ts';
import { areClocksApart, serverTime } from '#component/server-time.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';
import { createClusterSigners } from '#component/signers/cluster-signers.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import { act } from './act.ts';
import { createCaBundleTargets, type CaBundleTargets, type Publications } from './ca-bundles.ts';
import { decide, wantedText, type TargetChange } from './decide.ts';
import type { PublishedBundle } from '#ca/rotation/retained-anchors.ts';
import { createLaggingTargets, type LaggingTargets } from './lagging-targets.ts';
import { RestrainedWrites } from './restrained-writes.ts';
import { createTrustStores, type TrustStores } from './trust-stores.ts';
import { permissions } from './permissions.ts';
import { createSignerTrustTargets } from './signer-trust.ts';
import * as messages from './messages.ts';
import { TARGET_SERIES } from './metrics.ts';

/** Bundles are few, and targets exist only in namespaces that opted in. */
const TARGET_WORKERS = 4;

interface State {
  readonly component: Component;
  readonly signers: Signers;
  readonly bundles: Reflector<ClusterTrustBundle>;
  /** Namespaces that opted in. */
  readonly namespaces: Reflector<KubeObject>;
  /** ConfigMaps of all namespaces, by name. */
  readonly configMaps: WatchSet<ConfigMap>;
  /** Name of the ConfigMap → the ClusterSigner whose bundle it copies. */
  readonly publishers: Map<string, ClusterSigner>;
  readonly caBundles: CaBundleTargets;
  readonly stores: TrustStores;
  readonly laggards: LaggingTargets;
  readonly writes: RestrainedWrites;
}

/**
 * Keeps the anchors of published bundles in ConfigMaps of namespaces that opted in, and in
 * `caBundle` of objects.
 *
 * @param named - the objects with a `caBundle`
 */
export function createTrustDistributor(
  component: Component,
  bundle: Resource,
  named: readonly CaBundleTarget[],
): Controller {
  const state = createState(component, bundle, named);
  const { signers, bundles, namespaces, configMaps, caBundles } = state;
  const ofSigners = component.namespacedSigners ? createSignerTrustTargets(component) : undefined;
  component.shard.onChange(() => ofSigners?.enqueueAll());
  const watches = (): readonly (readonly [
    string,
    Pick<Reflector<unknown>, 'synced' | 'failure'>,
  ])[] => [
    ['bundles', bundles],
    ['namespaces', namespaces],
    ...configMaps.entries().map(([name, each]) => [`ConfigMaps ${name}`, each] as const),
    ...caBundles.watches(),
  ];
  return {
    signers: signers.all,
    permissions: () => permissions({ ...namesOf(signers.all(), component), caBundles: named }),
    notReady: () => [
      ...(signers.settled ? [] : [messages.unlistedSigners(signers.failure)]),
      ...watches()
        .filter(([, { synced, failure }]) => !synced || failure !== undefined)
        .map(([what, { failure }]) => messages.unlisted(what, failure)),
    ],
    warnings: () => ofSigners?.warnings() ?? [],
    run: async (signal) => {
      const watching = [signers.run(signal), bundles.run(signal), namespaces.run(signal)];
      const handle = (key: string): Promise<ReconcileResult> => reconcile(state, key);
      const onError = (key: string, error: unknown): void => {
        const [namespace = '', name = ''] = key.split('/');
        const signer = state.publishers.get(name);
        if (signer !== undefined) state.laggards.add(signer, messages.configMap(key));
        const named = { kind: 'ConfigMap', namespace, name };
        const regarding = { apiVersion: 'v1', ...named };
        reportRetry(component, error, { noun: 'ConfigMap', named, regarding });
      };
      const loop = { ...component, workers: TARGET_WORKERS, handle, onError };
      await Promise.all([runLoop(loop, signal), caBundles.run(signal), ofSigners?.run(signal)]);
      await Promise.all([...watching, configMaps.stop()]);
    },
  };
}

function createState(
  component: Component,
  bundle: Resource,
  named: readonly CaBundleTarget[],
): State {
  const publishers = new Map<string, ClusterSigner>();
  const signers = createClusterSigners(component);
  const bundles = createReflector<ClusterTrustBundle>({
    ...component,
    path: bundle.collection(),
    onEvent: (name) => {
      enqueue(state, trustConfigMapName(name));
      caBundles.enqueueAll();
    },
  });
  const namespaces = namespacesOf(component, (namespace) => {
    for (const name of publishers.keys()) component.queue.add(keyOf({ namespace, name }));
  });
  const configMaps = createWatchSet<ConfigMap>((name) =>
    createReflector<ConfigMap>({
      ...component,
      path: CONFIG_MAPS.collection(),
      // RBAC with resourceNames grants list and watch for exactly this field selector only.
      fieldSelector: `metadata.name=${name}`,
      onEvent: (key) => {
        component.queue.add(key);
      },
    }),
  );
  signers.onChange(() => {
    publishers.clear();
    for (const signer of signers.all()) {
      const { signerName, trustBundle } = signer.spec;
      if (trustBundle === undefined) continue;
      const name = trustConfigMapName(bundleName(signerName, trustBundle.name));
      // Two bundles may map to the same ConfigMap name. The first keeps it.
      if (!publishers.has(name)) publishers.set(name, signer);
    }
    configMaps.reconcile(publishers.keys());
    enqueueAll(state);
  });
  const laggards = createLaggingTargets(component);
  const caBundles = createCaBundleTargets(
    component,
    publications(() => state),
    named,
    laggards,
  );
  const state: State = {
    component,
    signers,
    bundles,
    namespaces,
    configMaps,
    publishers,
    caBundles,
    stores: createTrustStores(),
    laggards,
    writes: new RestrainedWrites(component, laggards),
  };
  component.shard.onChange(() => {
    enqueueAll(state);
  });
  return state;
}

function namespacesOf(
  component: Component,
  onEvent: (namespace: string) => void,
): Reflector<KubeObject> {
  return createReflector<KubeObject>({
    ...component,
    path: NAMESPACES.collection(),
    labelSelector: `${TRUST} in (${TRUST_OPTED_IN},${TRUST_WITH_STORE})`,
    transform: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
    onEvent,
  });
}

/** Returns the publications by signer name. */
function publications(state: () => State): Publications {
  return {
    isComplete: () => state().signers.settled && state().bundles.synced,
    of: (signerName) => {
      const signer = state()
        .signers.all()
        .find(({ spec }) => spec.signerName === signerName);
      return signer?.spec.trustBundle === undefined ? undefined : publishedOf(state(), signer);
    },
  };
}

function enqueueAll(state: State): void {
  state.caBundles.enqueueAll();
  for (const name of state.publishers.keys()) enqueue(state, name);
}

/** Enqueues the targets of one name: in namespaces that opted in, and where a ConfigMap exists. */
function enqueue({ component, namespaces, configMaps }: State, name: string): void {
  for (const { metadata } of namespaces.list())
    component.queue.add(keyOf({ namespace: metadata.name, name }));
  for (const { metadata } of configMaps.get(name)?.list() ?? [])
    component.queue.add(keyOf(metadata));
}

async function reconcile(state: State, key: string): Promise<ReconcileResult> {
  const { component, namespaces, configMaps, publishers } = state;
  if (!component.shard.owns(key)) return undefined;
  const [namespace = '', name = ''] = key.split('/');
  const found = configMaps.get(name);
  const signer = publishers.get(name);
  if (signer === undefined || found === undefined) return undefined;
  if (!isComplete(state) || !found.synced) return 'backoff';
  const existing = found.get(key);
  const opted = namespaces.get(namespace);
  const looked = { ...publishedOf(state, signer), existing, consents: opted !== undefined };
  const store = await storeFor(state, opted, wantedText(looked));
  const change = decide({ ...looked, store });
  tell(component, { namespace, name }, signer, change);
  const label = messages.configMap(key);
  const write = async (): Promise<void> => {
    const written = await act(component, { namespace, name }, change, existing);
    if (written !== undefined) found.applyWrite(written);
  };
  if (change.kind !== 'apply') {
    await write();
    return state.writes.leave({ key, label });
  }
  const contents = JSON.stringify(change);
  return state.writes.apply({
    key,
    label,
    contents,
    object: existing,
    field: 'data',
    signer,
    write,
  });
}

/** Returns the truststore if the namespace requests one. */
async function storeFor(
  { stores }: State,
  namespace: KubeObject | undefined,
  text = '',
): Promise<string | undefined> {
  const isWanted = namespace?.metadata.labels?.[TRUST] === TRUST_WITH_STORE;
  return isWanted && text !== '' ? stores.of(text) : undefined;
}

/** Reports whether all lists are complete. Earlier decisions could delete anchors by mistake. */
function isComplete({ signers, bundles, namespaces }: State): boolean {
  return signers.settled && bundles.synced && namespaces.synced;
}

/** Returns what a signer publishes now. */
function publishedOf({ component, bundles }: State, signer: ClusterSigner): PublishedBundle {
  const { signerName, trustBundle } = signer.spec;
  return {
    signer,
    secretNamespace: component.secretNamespace,
    bundle: bundles.get(bundleName(signerName, trustBundle?.name ?? '')),
    now: serverTime(component),
    clocksApart: areClocksApart(component),
  };
}

function tell(
  { metrics, log }: Component,
  target: { readonly namespace: string; readonly name: string },
  { spec: { signerName } }: ClusterSigner,
  { kind }: TargetChange,
): void {
  if (kind === 'ignore') return;
  metrics.of(TARGET_SERIES).targets.inc({ signer: signerName, outcome: kind });
  if (kind !== 'refused') return;
  log.warn({ kind: 'ConfigMap', ...target }, messages.unnamedSigner(signerName));
}
