// SPDX-License-Identifier: Apache-2.0
import type { Client } from '../client/client.ts';
import { objectKey, type StoredObject } from '../resource/object.ts';
import { createReflector, type WatchMetrics } from '../watch/reflector.ts';
import { createWatchSet } from '../watch/watch-set.ts';
import type { Clock, Delay, Log, Random } from '#base/ports.ts';
import { ruleOf } from './objects/kinds.ts';
import type { ManagedObject } from './objects/managed-object.ts';
import { MANAGED_BY } from './objects/mark.ts';
import { METADATA_ONLY } from './writer.ts';

type StoredManagedObject = ManagedObject & StoredObject;

/** The dependencies of the watches. */
export interface ManagedWatchesInit {
  readonly client: Client;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WatchMetrics;
  /** Value of the operator's label. */
  readonly label: string;
  /** Called for each change of an object. */
  readonly onChange: () => void;
}

/** The live state of the objects of an installation, kept up to date by watches. */
export interface ManagedWatches {
  /** Watches what these objects need, and nothing else. */
  readonly follow: (objects: readonly ManagedObject[]) => void;
  /** Returns the cached state, or undefined if it is unknown and must be read. */
  readonly get: (object: ManagedObject) => ManagedObject | undefined;
  /** Reports whether a complete list lacks the object. */
  readonly isGone: (object: ManagedObject) => boolean;
  /** Takes the response to a write of this process. */
  readonly written: (object: ManagedObject) => void;
  /** Every cached object. */
  readonly all: () => readonly ManagedObject[];
  /** The errors of failing watches. */
  readonly failures: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** One watch: a kind, a place, and which of its objects. */
interface Scope {
  readonly like: ManagedObject;
  readonly namespace: string | undefined;
  /** The name, if the watch covers a single object. */
  readonly name: string | undefined;
}

/** @returns watches of nothing, until `follow` names objects */
export function createManagedWatches(init: ManagedWatchesInit): ManagedWatches {
  const scopes = new Map<string, Scope>();
  const set = createWatchSet<StoredManagedObject>((key) => {
    const scope = scopes.get(key);
    if (scope === undefined) throw new TypeError(`no scope ${key}`);
    return reflectorOf(init, scope);
  });
  return {
    follow: (objects) => {
      scopes.clear();
      for (const each of objects) scopes.set(scopeKeyOf(each), scopeOf(each));
      set.reconcile(scopes.keys());
    },
    get: (object) => {
      const reflector = set.get(scopeKeyOf(object));
      return reflector?.synced === true ? cachedBy(reflector, object) : undefined;
    },
    isGone: (object) => {
      const reflector = set.get(scopeKeyOf(object));
      return reflector?.synced === true && cachedBy(reflector, object) === undefined;
    },
    // The API server returned the object, with its version.
    written: (object) => set.get(scopeKeyOf(object))?.applyWrite(object as StoredManagedObject),
    all: () => set.entries().flatMap(([, reflector]) => reflector.list()),
    failures: () =>
      set
        .entries()
        .flatMap(([key, { failure }]) => (failure === undefined ? [] : [`${key}: ${failure}`])),
    stop: set.stop,
  };
}

function cachedBy(
  reflector: ReturnType<typeof reflectorOf>,
  object: ManagedObject,
): ManagedObject | undefined {
  // The key needs the name alone.
  return reflector.get(objectKey(object as StoredManagedObject));
}

function scopeOf(object: ManagedObject): Scope {
  const { watched } = ruleOf(object);
  const { namespace, name } = object.metadata;
  return { like: object, namespace, name: watched === 'name' ? name : undefined };
}

function scopeKeyOf(object: ManagedObject): string {
  const { namespace, name } = scopeOf(object);
  return [ruleOf(object).resource.collection(namespace), name ?? ''].join(' ').trim();
}

function reflectorOf(
  init: ManagedWatchesInit,
  { like, namespace, name }: Scope,
): ReturnType<typeof createReflector<StoredManagedObject>> {
  const { resource, watched, metadataOnly } = ruleOf(like);
  const { apiVersion, kind } = like;
  return createReflector<StoredManagedObject>({
    ...init,
    path: resource.collection(namespace),
    ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
    ...(watched === 'labelled' ? { labelSelector: `${MANAGED_BY}=${init.label}` } : {}),
    ...(metadataOnly === true ? { accept: METADATA_ONLY } : {}),
    transform: (object) => ({
      ...object,
      apiVersion,
      kind,
      metadata: { ...object.metadata, managedFields: undefined },
    }),
    onEvent: (_key, now, before) => {
      // A resync reports what has not changed.
      if (now !== before) init.onChange();
    },
  });
}
