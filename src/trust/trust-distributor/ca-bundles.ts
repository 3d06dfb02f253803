// SPDX-License-Identifier: Apache-2.0
import {
  CA_BUNDLE_RESOURCES,
  caBundleTargetText,
  type CaBundleTarget,
} from '#api/object/ca-bundle-target.ts';
import type { KubeObject } from '#api/object/object.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { PublishedBundle } from '#ca/rotation/retained-anchors.ts';
import type { Component } from '#component/contract.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';
import { caBundleObject, resourceOf, type CaBundleObject } from '#api/object/ca-bundle-object.ts';
import { FIELD_MANAGER } from './act.ts';
import { contentsOf } from './contested-targets.ts';
import type { LaggingTargets } from './lagging-targets.ts';
import { decideCaBundle, namedSigner, type CaBundleChange } from './decide-ca-bundle.ts';
import { RestrainedWrites } from './restrained-writes.ts';
import * as messages from './messages.ts';
import { TARGET_SERIES } from './metrics.ts';

/** The objects are few, and each configures the API server. */
const CA_BUNDLE_WORKERS = 2;

/** The published bundles, as targets read them. */
export interface Publications {
  /** False until all lists are complete, since a signer may publish what is not listed yet. */
  readonly isComplete: () => boolean;
  /** Returns the bundle of a signer name, or undefined if the signer name is not served. */
  readonly of: (signerName: string) => PublishedBundle | undefined;
}

/** Keeps the `caBundle` of the configured objects. */
export interface CaBundleTargets {
  /** Enqueues all objects again. */
  readonly enqueueAll: () => void;
  readonly watches: () => readonly (readonly [string, Reflector<CaBundleObject>])[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

interface State {
  readonly component: Component;
  readonly publications: Publications;
  /** Targets by their text. */
  readonly targets: ReadonlyMap<string, CaBundleTarget>;
  readonly reflectors: ReadonlyMap<string, Reflector<CaBundleObject>>;
  readonly laggards: LaggingTargets;
  readonly writes: RestrainedWrites;
}

/**
 * Keeps the anchors of published bundles in `caBundle` of the configured objects, where their
 * owners consent.
 */
export function createCaBundleTargets(
  own: Component,
  publications: Publications,
  named: readonly CaBundleTarget[],
  laggards: LaggingTargets,
): CaBundleTargets {
  const component = { ...own, ...own.anotherLoop('ca-bundles') };
  const targets = new Map(named.map((each) => [caBundleTargetText(each), each]));
  const reflectors = new Map(
    [...targets].map(([key, target]) => [key, reflectorOf(component, key, target)] as const),
  );
  const writes = new RestrainedWrites(component, laggards);
  const state: State = { component, publications, targets, reflectors, laggards, writes };
  return {
    enqueueAll: () => {
      for (const key of targets.keys()) component.queue.add(key);
    },
    watches: () => [...reflectors],
    run: async (signal) => {
      const watching = [...reflectors.values()].map((each) => each.run(signal));
      const handle = (key: string): Promise<ReconcileResult> => reconcile(state, key);
      const onError = (key: string, error: unknown): void => {
        const object = namesOf(state, key);
        lag(state, key);
        const regarding = { apiVersion: object.apiVersion, kind: object.kind, name: object.name };
        const fields = { kind: object.kind, name: object.name };
        reportRetry(component, error, { noun: 'caBundle', named: fields, regarding });
      };
      await runLoop({ ...component, workers: CA_BUNDLE_WORKERS, handle, onError }, signal);
      await Promise.all(watching);
    },
  };
}

function reflectorOf(
  component: Component,
  key: string,
  { resource, name }: CaBundleTarget,
): Reflector<CaBundleObject> {
  return createReflector<CaBundleObject>({
    ...component,
    path: resourceOf(resource).collection(),
    // RBAC with resourceNames grants list and watch for exactly this field selector only.
    fieldSelector: `metadata.name=${name}`,
    // A CustomResourceDefinition may have a megabyte of schemas.
    transform: (object: KubeObject) => caBundleObject(resource, object),
    onEvent: () => {
      component.queue.add(key);
    },
  });
}

function namesOf(
  { targets }: State,
  key: string,
): { readonly apiVersion: string; readonly kind: string; readonly name: string } {
  const target = targets.get(key);
  if (target === undefined) throw new TypeError(`no target ${key}`);
  const { group, kind } = CA_BUNDLE_RESOURCES[target.resource];
  return { apiVersion: `${group}/v1`, kind, name: target.name };
}

async function reconcile(state: State, key: string): Promise<ReconcileResult> {
  const { component, publications, targets, reflectors } = state;
  if (!component.shard.owns(key)) return undefined;
  const target = targets.get(key);
  const reflector = reflectors.get(key);
  if (target === undefined || reflector === undefined) return undefined;
  if (!publications.isComplete() || !reflector.synced) return 'backoff';
  const object = reflector.get(target.name);
  const signerName = object === undefined ? '' : namedSigner(object);
  const change = decideCaBundle(object, publications.of(signerName));
  tell(state, key, change, signerName);
  if (object !== undefined && change.kind === 'apply') {
    return apply(state, key, { target, reflector, object, change });
  }
  return state.writes.leave({ key, label: key });
}

/** Writes the `caBundle`s, unless another writer replaces them again and again. */
async function apply(
  state: State,
  key: string,
  judged: {
    readonly target: CaBundleTarget;
    readonly reflector: Reflector<CaBundleObject>;
    readonly object: CaBundleObject;
    readonly change: Extract<CaBundleChange, { kind: 'apply' }>;
  },
): Promise<ReconcileResult> {
  const { target, reflector, object, change } = judged;
  return state.writes.apply({
    key,
    label: key,
    contents: contentsOf(change.places),
    object,
    field: 'caBundle',
    signer: state.publications.of(namedSigner(object))?.signer,
    write: async () => {
      const written = await write(state, target, object, change);
      reflector.applyWrite(caBundleObject(target.resource, written));
      state.component.log.info(namesOf(state, key), messages.CA_BUNDLE_WRITTEN);
    },
  });
}

/** Records a failed write as a lagging target of the signer that the object names. */
function lag({ targets, reflectors, publications, laggards }: State, key: string): void {
  const object = reflectors.get(key)?.get(targets.get(key)?.name ?? '');
  const published = object === undefined ? undefined : publications.of(namedSigner(object));
  if (published !== undefined) laggards.add(published.signer, key);
}

/**
 * Changes the `caBundle`s and nothing else. The patch requires the resourceVersion that was read,
 * so a concurrent change of an annotation or a webhook address is judged again.
 */
async function write(
  { component: { client } }: State,
  { resource, name }: CaBundleTarget,
  { metadata: { uid, resourceVersion } }: CaBundleObject,
  { places }: Extract<CaBundleChange, { kind: 'apply' }>,
): Promise<KubeObject> {
  return client.request<KubeObject>({
    method: 'PATCH',
    path: resourceOf(resource).object({ name }),
    query: { fieldManager: FIELD_MANAGER },
    contentType: 'application/json-patch+json',
    body: [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'add', path: '/metadata/resourceVersion', value: resourceVersion },
      ...places.map(({ path, text }) => ({
        op: 'add',
        path,
        value: Buffer.from(text, 'latin1').toString('base64'),
      })),
    ],
  });
}

function tell(state: State, key: string, { kind }: CaBundleChange, signerName: string): void {
  const { component } = state;
  if (kind === 'ignore') return;
  // Writers of an object choose the annotation's text, so it must not become a metric label.
  const signer = kind === 'refused' ? '' : signerName;
  component.metrics.of(TARGET_SERIES).targets.inc({ signer, outcome: kind });
  if (kind !== 'refused') return;
  component.log.warn(namesOf(state, key), messages.CA_BUNDLE_WITHOUT_SIGNER);
}
