// SPDX-License-Identifier: Apache-2.0
import { keyOf, type KubeObject } from '../../../api/object/object.ts';
import { messageOf } from '../../../errors.ts';
import type { Resource } from '../../../kube/resource/resource.ts';
import type { OnChange } from '../../../kube/resource/store.ts';
import { createReflector, type Reflector } from '../../../kube/watch/reflector.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { TextIndex } from '../../../text-index.ts';

/** All objects of a kind, read, with an index by one text of each. */
export interface AcmeCache<T> {
  readonly synced: boolean;
  readonly failure: string | undefined;
  /** By `namespace/name`. */
  readonly get: (key: string) => T | undefined;
  readonly list: () => readonly T[];
  /** Those with this text. */
  readonly by: (text: string) => readonly T[];
  /** The object as a write of our own left it: no stale read follows. */
  readonly applyWrite: (object: T) => void;
  /** Calls the listener with each change, in the order of events. */
  readonly onEvent: (listener: OnChange<T>) => void;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface AcmeCacheInit<T> {
  readonly component: Component;
  readonly resource: Resource;
  /** @throws SignerError where the object has another shape than its CRD */
  readonly read: (object: KubeObject) => T;
  readonly textOf: (object: T) => string;
}

/** Watches a kind in all namespaces. What cannot be read is logged, and is not there. */
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
        'object cannot be read, ignored',
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
