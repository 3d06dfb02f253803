// SPDX-License-Identifier: Apache-2.0
import type { ConfigMap, KubeObject } from '#api/object/object.ts';
import { SIGNER_TRUST } from '#api/signer/signer.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { ignoreNamespaceGone } from '#kube/client/kube-error.ts';
import { permissionText } from '#kube/client/access-review.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { createWatchSet, type WatchSet } from '#kube/watch/watch-set.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component } from '#component/contract.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';
import {
  createNamespacedSigners,
  type NamespacedSigners,
} from '#component/signers/namespaced-signers.ts';
import type { Signers } from '#component/signers/signer-set.ts';
import { FIELD_MANAGER, clearImmutable, deleteConfigMap } from './act.ts';
import {
  decideSignerTrust,
  type SignerTrust,
  type SignerTrustChange,
} from './decide-signer-trust.ts';
import { ON_SIGNER_TRUST } from './permissions.ts';
import { reduceConfigMap, type KeptContents } from './reduce-config-map.ts';
import { RestrainedWrites } from './restrained-writes.ts';
import * as messages from './messages.ts';
import { TARGET_SERIES } from './metrics.ts';

/** Each namespace has one ConfigMap. */
const SIGNER_TRUST_WORKERS = 2;

/** Signers have room for 24,576 characters of anchors each, in their own line lengths. */
const KEPT: KeptContents = { isNeeded: () => true, maxText: 32_768 };

/** Keeps the ConfigMaps of the namespaces that have Signers. */
export interface SignerTrustTargets {
  /** Enqueues all namespaces again. */
  readonly enqueueAll: () => void;
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

interface State {
  readonly component: Component;
  readonly signers: NamespacedSigners;
  /** ConfigMaps by namespace. */
  readonly configMaps: WatchSet<ConfigMap>;
  readonly writes: RestrainedWrites;
}

/**
 * Keeps the anchors of Signers in a ConfigMap of their own namespace. Its problems concern that
 * namespace only and never make the component unready.
 */
export function createSignerTrustTargets(own: Component): SignerTrustTargets {
  const component = { ...own, ...own.anotherLoop('signers') };
  const signers = createNamespacedSigners(component, { keepsAnchors: true });
  const configMaps = createWatchSet<ConfigMap>((namespace) => watch(component, namespace));
  const writes = new RestrainedWrites(component);
  const state: State = { component, signers, configMaps, writes };
  signers.onChange((_names, keys) => {
    configMaps.reconcile(new Set(signers.keys().map(namespaceOf)));
    for (const key of keys) component.queue.add(namespaceOf(key));
  });
  const enqueueAll = (): void => {
    for (const [namespace] of configMaps.entries()) component.queue.add(namespace);
  };
  return {
    enqueueAll,
    warnings: signers.warnings,
    run: async (signal) => {
      const watching = signers.run(signal);
      // The namespaces need not wait out their backoff.
      void signers.whenListed(signal).then(enqueueAll, () => undefined);
      const handle = (namespace: string): Promise<ReconcileResult> => reconcile(state, namespace);
      const onError = (namespace: string, error: unknown): void => {
        const named = { kind: 'ConfigMap', namespace, name: SIGNER_TRUST };
        const regarding = { apiVersion: 'v1', ...named };
        reportRetry(component, error, { noun: 'ConfigMap', named, regarding });
      };
      await runLoop({ ...component, workers: SIGNER_TRUST_WORKERS, handle, onError }, signal);
      await Promise.all([watching, configMaps.stop()]);
    },
  };
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

/**
 * Watches the ConfigMap of a namespace. Checks permissions first, since users create Signers and a
 * missing Role would cause a stream of rejected calls.
 */
function watch(component: Component, namespace: string): Reflector<ConfigMap> {
  let isTold = false;
  return createReflector<ConfigMap>({
    ...component,
    path: CONFIG_MAPS.collection(namespace),
    fieldSelector: `metadata.name=${SIGNER_TRUST}`,
    transform: (object) => reduceConfigMap(object, KEPT),
    preflight: async () => {
      const why = await whyWithheld(component, namespace);
      if (why !== undefined && !isTold) component.log.warn({ namespace }, why);
      isTold = why !== undefined;
      return why;
    },
    onEvent: () => {
      component.queue.add(namespace);
    },
  });
}

async function whyWithheld(component: Component, namespace: string): Promise<string | undefined> {
  const [missing] = await component.missingPermissions([{ ...ON_SIGNER_TRUST, namespace }]);
  if (missing === undefined) return undefined;
  return messages.permissionMissing(component.name, permissionText(missing), namespace);
}

async function reconcile(
  { component, signers, configMaps, writes }: State,
  namespace: string,
): Promise<ReconcileResult> {
  if (!component.shard.owns(namespace)) return undefined;
  const watched = configMaps.get(namespace);
  // The last Signer is gone, so Kubernetes deletes the ConfigMap that it owned.
  if (watched === undefined) return undefined;
  // A Signer that is not listed yet would lose its key.
  if (!signers.listed || !watched.synced) return 'backoff';
  const existing = watched.get(`${namespace}/${SIGNER_TRUST}`);
  const change = decideSignerTrust(signersOf(signers, namespace), existing);
  tell(component, namespace, change);
  if (change.kind === 'delete') await deleteConfigMap(component.client, change.existing);
  if (change.kind !== 'apply') return undefined;
  return writes.apply({
    key: namespace,
    label: messages.configMap(`${namespace}/${SIGNER_TRUST}`),
    contents: JSON.stringify(change),
    object: existing,
    field: 'data',
    signer: undefined,
    write: async () => {
      const written = await write(component, { namespace, existing }, change);
      if (written !== undefined) watched.applyWrite(written);
    },
  });
}

/**
 * Returns all Signers of a namespace, valid or not. An edit that breaks the spec must not end
 * trust.
 */
function signersOf(signers: Signers, namespace: string): readonly KubeObject[] {
  return signers
    .keys()
    .filter((key) => namespaceOf(key) === namespace)
    .flatMap((key) => signers.get(key) ?? signers.faulty(key)?.object ?? []);
}

async function write(
  { client }: Component,
  { namespace, existing }: { readonly namespace: string; readonly existing: ConfigMap | undefined },
  { data, ownerReferences }: SignerTrust,
): Promise<ConfigMap | undefined> {
  const target = { namespace, name: SIGNER_TRUST };
  const path = CONFIG_MAPS.object(target);
  if (existing === undefined || existing.immutable === true) {
    if (!(await clearImmutable(client, existing))) return undefined;
    const labels = { 'app.kubernetes.io/managed-by': 'countersign' };
    const annotations = { [SIGNER_NAME]: SIGNER_TRUST };
    const metadata = { ...target, labels, annotations, ownerReferences };
    const created = client.request<ConfigMap>({
      method: 'PATCH',
      path,
      query: { fieldManager: FIELD_MANAGER, force: true },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
    });
    return created.catch(ignoreNamespaceGone);
  }
  const { resourceVersion } = existing.metadata;
  return client.request<ConfigMap>({
    method: 'PATCH',
    path,
    query: { fieldManager: FIELD_MANAGER },
    contentType: 'application/json-patch+json',
    body: [
      // A different version causes a conflict.
      { op: 'add', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/metadata/ownerReferences', value: ownerReferences },
      { op: 'add', path: '/data', value: data },
      { op: 'add', path: '/binaryData', value: {} },
    ],
  });
}

function tell({ metrics, log }: Component, namespace: string, { kind }: SignerTrustChange): void {
  if (kind === 'ignore') return;
  // Users choose the names of Signers, so all of them share one series.
  metrics.of(TARGET_SERIES).targets.inc({ signer: SIGNER_TRUST, outcome: kind });
  const fields = { kind: 'ConfigMap', namespace, name: SIGNER_TRUST };
  if (kind === 'refused') log.warn(fields, messages.FOREIGN_SIGNER_TRUST);
  else
    log.info(
      fields,
      kind === 'apply' ? messages.SIGNER_ANCHORS_WRITTEN : messages.SIGNER_ANCHORS_DELETED,
    );
}
