// SPDX-License-Identifier: Apache-2.0
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { messageOf } from '#base/errors.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { OnChange } from '#kube/resource/store.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { Component } from '#component/contract.ts';
import { TextIndex } from '#base/text-index.ts';
import * as messages from '../messages.ts';

/** All objects of a kind, indexed by one text of each. */
export interface AcmeCache<T> {
  readonly synced: boolean;
  readonly failure: string | undefined;
  /** Returns an object by `namespace/name`. */
  readonly get: (key: string) => T | undefined;
  readonly list: () => readonly T[];
  /** Returns the objects with this text. */
  readonly by: (text: string) => readonly T[];
  /** Stores the object of our own write, so that no stale read follows. */
  readonly applyWrite: (object: T) => void;
  /** Calls the listener with each change, in the order of events. */
  readonly onEvent: (listener: OnChange<T>) => void;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface AcmeCacheInit<T> {
  readonly component: Component;
  readonly resource: Resource;
  /** @throws SignerError if the object does not match its CRD */
  readonly read: (object: KubeObject) => T;
  readonly textOf: (object: T) => string;
}

/** Watches a kind in all namespaces. Logs an unreadable object, and leaves it out. */
export function createAcmeCache<T extends KubeObject>(init: AcmeCacheInit<T>): AcmeCache<T> {
  const { component, resource, read, textOf } = init;
  const index = new TextIndex(textOf);
  const listeners: OnChange<T>[] = [];
  const unreadable = new WeakSet<T>();
  const readable = (object: T | undefined): T | undefined =>
    object === undefined || unreadable.has(object) ? undefined : object;

  function transform(object: T): T {
    try {
      return read(object);
    } catch (error) {
      component.log.error(
        { kind: object.kind, key: keyOf(object.metadata), error: messageOf(error) },
        messages.UNREADABLE_OBJECT,
      );
      unreadable.add(object);
      return object;
    }
  }

  const reflector: Reflector<T> = createReflector<T>({
    ...component,
    path: resource.collection(),
    transform,
    onEvent: (key, now, before) => {
      const [after, earlier] = [readable(now), readable(before)];
      index.change(key, after, earlier);
      for (const listener of listeners) listener(key, after, earlier);
    },
  });
  return {
    get synced() {
      return reflector.synced;
    },
    get failure() {
      return reflector.failure;
    },
    get: (key) => readable(reflector.get(key)),
    list: () => reflector.list().filter((each) => !unreadable.has(each)),
    by: index.get,
    applyWrite: (object) => {
      reflector.applyWrite(object);
    },
    onEvent: (listener) => {
      listeners.push(listener);
    },
    run: (signal) => reflector.run(signal),
  };
}
