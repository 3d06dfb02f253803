// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { keyOf, type ConfigMap, type KubeObject } from '#api/object/object.ts';
import {
  TRUST,
  TRUST_KEY,
  TRUST_OPTED_IN,
  TRUST_STORE_KEY,
  TRUST_WITH_STORE,
  trustConfigMapName,
} from '#api/object/trust-config-map.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { permissionText } from '#kube/client/access-review.ts';
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
import { copiedBundles, type CopiedBundle } from './copied-bundles.ts';
import { createCaBundleTargets, type CaBundleTargets, type Publications } from './ca-bundles.ts';
import { decide, wantedText, type TargetChange, type TargetSnapshot } from './decide.ts';
import type { PublishedBundle } from '#ca/rotation/retained-anchors.ts';
import { createLaggingTargets, type LaggingTargets } from './lagging-targets.ts';
import { reduceConfigMap, type KeptContents } from './reduce-config-map.ts';
import { RestrainedWrites } from './restrained-writes.ts';
import { createTrustStores, type TrustStores } from './trust-stores.ts';
import { onConfigMaps, permissions } from './permissions.ts';
import { createSignerTrustTargets } from './signer-trust.ts';
import * as messages from './messages.ts';
import { TARGET_SERIES } from './metrics.ts';

/** Bundles are few, and targets exist only in namespaces that opted in. */
const TARGET_WORKERS = 4;
/** A copy of this length is kept even without its bundle, to take distrusted anchors out of it. */
const MIN_KEPT_TEXT = 32_768;

interface State {
  readonly component: Component;
  readonly signers: Signers;
  readonly bundles: Reflector<ClusterTrustBundle>;
  /** Namespaces that opted in. */
  readonly namespaces: Reflector<KubeObject>;
  /** ConfigMaps of all namespaces, by name. */
  readonly configMaps: WatchSet<ConfigMap>;
  /** Name of the ConfigMap → the bundle that it copies. */
  copied: ReadonlyMap<string, CopiedBundle>;
  /** Names of the ConfigMaps of retired bundles that the role may not read. */
  readonly withheld: Set<string>;
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
    ...configMaps
      .entries()
      .filter(([name]) => isPublished(state, name))
      .map(([name, each]) => [`ConfigMaps ${name}`, each] as const),
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
    warnings: () => [...unreadRetired(state), ...(ofSigners?.warnings() ?? [])],
    run: async (signal) => {
      const watching = [signers.run(signal), bundles.run(signal), namespaces.run(signal)];
      const handle = (key: string): Promise<ReconcileResult> => reconcile(state, key);
      const onError = (key: string, error: unknown): void => {
        const [namespace = '', name = ''] = key.split('/');
        // A rotation does not wait for the copy of a retired bundle, which gets no new anchor.
        const signer = state.copied.get(name)?.publisher;
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
  const signers = createClusterSigners(component);
  const bundles = createReflector<ClusterTrustBundle>({
    ...component,
    path: bundle.collection(),
    onEvent: (name) => {
      updateCopied(state);
      enqueue(state, trustConfigMapName(name));
      caBundles.enqueueAll();
    },
  });
  const namespaces = namespacesOf(component, (namespace) => {
    for (const name of state.copied.keys()) component.queue.add(keyOf({ namespace, name }));
  });
  const configMaps = createWatchSet<ConfigMap>((name) =>
    createReflector<ConfigMap>({
      ...component,
      path: CONFIG_MAPS.collection(),
      // RBAC with resourceNames grants list and watch for exactly this field selector only.
      fieldSelector: `metadata.name=${name}`,
      transform: (object) => reduceConfigMap(object, keptOf(state, name)),
      preflight: () => whyWithheld(state, name),
      onEvent: (key) => {
        component.queue.add(key);
      },
    }),
  );
  signers.onChange(() => {
    updateCopied(state);
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
    copied: new Map(),
    withheld: new Set(),
    caBundles,
    stores: createTrustStores(),
    laggards,
    writes: new RestrainedWrites(component, laggards),
  };
  void bundles.whenSynced(new AbortController().signal).then(() => {
    updateCopied(state);
    enqueueAll(state);
  });
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
      const signer = state().signers.serving(signerName);
      return signer && publishedOf(state(), signer);
    },
  };
}

function enqueueAll(state: State): void {
  state.caBundles.enqueueAll();
  for (const name of state.copied.keys()) enqueue(state, name);
}

/** Determines the copied bundles again, and watches the ConfigMaps of their names. */
function updateCopied(state: State): void {
  const { component, signers, bundles, configMaps } = state;
  // Each bundle would count as retired before all ClusterSigners are known. The bundles bound what
  // is kept of the ConfigMaps.
  if (!signers.settled || !bundles.synced) return;
  const before = state.copied;
  state.copied = copiedBundles({
    signers: signers.all(),
    bundles: bundles.list(),
    secretNamespace: component.secretNamespace,
    before,
    hasCopies: (name) => hasCopies(state, name),
  });
  forgetWithheld(state);
  configMaps.reconcile(state.copied.keys());
}

/** Logs once that copies of a deleted bundle may remain, which the role may not read. */
function forgetWithheld({ component, copied, withheld }: State): void {
  for (const name of [...withheld].filter((each) => !copied.has(each))) {
    withheld.delete(name);
    component.log.warn({ kind: 'ConfigMap', name }, messages.unreadCopies(name));
  }
}

/**
 * Returns what is kept of the ConfigMaps of a name. A copy is about as long as its bundle; other
 * line lengths and a truststore add a little.
 */
function keptOf({ bundles, copied }: State, name: string): KeptContents {
  const bundle = bundles.get(copied.get(name)?.bundle ?? '');
  const maxText = Math.max(MIN_KEPT_TEXT, 2 * (bundle?.spec.trustBundle.length ?? 0));
  return { isNeeded: (key) => [TRUST_KEY, TRUST_STORE_KEY].includes(key), maxText };
}

/**
 * Reports whether a ConfigMap of this name may still be a copy, as far as the role may read. A
 * watch without permission would never end.
 */
function hasCopies({ configMaps, copied, withheld }: State, name: string): boolean {
  if (withheld.has(name)) return false;
  const watched = configMaps.get(name);
  if (watched?.synced !== true) return true;
  const signerName = copied.get(name)?.signerName;
  return watched.list().some(({ metadata }) => metadata.annotations?.[SIGNER_NAME] === signerName);
}

function isPublished({ copied }: State, name: string): boolean {
  return copied.get(name)?.publisher !== undefined;
}

/**
 * Returns why the ConfigMaps of a retired bundle cannot be read, or undefined. The role need not
 * list the name any more, and a missing permission would cause a stream of rejected calls.
 */
async function whyWithheld(state: State, name: string): Promise<string | undefined> {
  state.withheld.delete(name);
  if (isPublished(state, name)) return undefined;
  const [missing] = await state.component.missingPermissions(onConfigMaps([name]));
  if (missing === undefined) return undefined;
  state.withheld.add(name);
  // Its bundle may be gone already.
  updateCopied(state);
  return messages.retiredCopies(permissionText(missing), name);
}

/** Returns a warning for each retired bundle whose copies cannot be read. */
function unreadRetired(state: State): readonly string[] {
  return state.configMaps
    .unread()
    .filter(([name]) => !isPublished(state, name))
    .flatMap(([, { failure }]) => failure ?? []);
}

/** Enqueues the targets of one name: in namespaces that opted in, and where a ConfigMap exists. */
function enqueue({ component, namespaces, configMaps }: State, name: string): void {
  for (const { metadata } of namespaces.list())
    component.queue.add(keyOf({ namespace: metadata.name, name }));
  for (const { metadata } of configMaps.get(name)?.list() ?? [])
    component.queue.add(keyOf(metadata));
}

async function reconcile(state: State, key: string): Promise<ReconcileResult> {
  const { component, configMaps, copied, writes } = state;
  if (!component.shard.owns(key)) return undefined;
  const [, name = ''] = key.split('/');
  const found = configMaps.get(name);
  const source = copied.get(name);
  if (source === undefined || found === undefined) {
    return writes.leave({ key, label: messages.configMap(key) });
  }
  if (!isComplete(state)) return 'backoff';
  // The watch of a retired bundle without permission reports each ConfigMap once it works.
  if (!found.synced) return source.publisher === undefined ? undefined : 'backoff';
  return isUnreadable(state, source) ? undefined : update(state, key, { source, found });
}

/**
 * Reports whether a retired bundle is gone whose ClusterSigner this version cannot read. Another
 * version that can read it may still sign, so change nothing.
 */
function isUnreadable({ bundles, signers }: State, source: CopiedBundle): boolean {
  const isGone = source.publisher === undefined && bundles.get(source.bundle) === undefined;
  return isGone && signers.faulty(source.clusterSigner) !== undefined;
}

async function update(
  state: State,
  key: string,
  { source, found }: { readonly source: CopiedBundle; readonly found: Reflector<ConfigMap> },
): Promise<ReconcileResult> {
  const { component, namespaces } = state;
  const [namespace = '', name = ''] = key.split('/');
  const existing = found.get(key);
  const opted = namespaces.get(namespace);
  const looked = {
    ...lookAt(state, source),
    existing,
    consents: opted !== undefined,
    isTerminating: opted?.metadata.deletionTimestamp !== undefined,
  };
  const store = await storeFor(state, opted, wantedText(looked));
  const change = decide({ ...looked, store });
  tell(component, { namespace, name }, source.signerName, change);
  const label = messages.configMap(key);
  const write = async (): Promise<void> => {
    const written = await act(component, { namespace, name }, change, existing);
    if (written !== undefined) found.applyWrite(written);
  };
  if (change.kind !== 'apply') {
    await write();
    // The last copy of a retired bundle may be gone.
    if (existing === undefined && source.publisher === undefined) updateCopied(state);
    return state.writes.leave({ key, label });
  }
  return state.writes.apply({
    key,
    label,
    contents: JSON.stringify(change),
    object: existing,
    field: 'data',
    signer: source.publisher,
    write,
  });
}

/** Returns what is published under the name of a copied bundle. */
function lookAt(
  { component, signers, bundles }: State,
  { bundle, signerName, publisher }: CopiedBundle,
): Omit<TargetSnapshot, 'existing' | 'consents' | 'isTerminating' | 'store'> {
  return {
    ...contextOf(component),
    signerName,
    signer: publisher ?? signers.serving(signerName),
    isPublished: publisher !== undefined,
    bundle: bundles.get(bundle),
  };
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

/** Returns what a signer publishes now. Without `spec.trustBundle` it publishes no bundle. */
function publishedOf({ component, bundles }: State, signer: ClusterSigner): PublishedBundle {
  const { signerName, trustBundle } = signer.spec;
  const bundle = trustBundle && bundles.get(bundleName(signerName, trustBundle.name));
  return { ...contextOf(component), signer, bundle };
}

function contextOf(
  component: Component,
): Pick<PublishedBundle, 'secretNamespace' | 'now' | 'clocksApart'> {
  const { secretNamespace } = component;
  return { secretNamespace, now: serverTime(component), clocksApart: areClocksApart(component) };
}

function tell(
  { metrics, log }: Component,
  target: { readonly namespace: string; readonly name: string },
  signerName: string,
  { kind }: TargetChange,
): void {
  if (kind === 'ignore') return;
  metrics.of(TARGET_SERIES).targets.inc({ signer: signerName, outcome: kind });
  if (kind !== 'refused') return;
  log.warn({ kind: 'ConfigMap', ...target }, messages.unnamedSigner(signerName));
}
