// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object/object.ts';
import { messageOf } from '../errors.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import type { Resource } from '../kube/resource/resource.ts';
import type { WatchEvent } from '../kube/watch/watch-event.ts';
import { decodeWatch } from '../kube/watch/watch-decoder.ts';
import type { StoredObject } from '../kube/resource/object.ts';
import type { Run } from './run.ts';

/** One version of an object, and when the runner saw it: milliseconds of our clock. */
export interface SeenVersion<T> {
  readonly object: T;
  readonly at: number;
}

/** Records every version of the objects of a collection. */
export interface Recorder<T> {
  /** In the order in which they came. */
  versionsOf(uid: string): readonly SeenVersion<T>[];
  /** The last version of every object. */
  objects(): readonly T[];
  /** What the runner was told by an answer: a version like any other. */
  add(object: T): void;
  /** False as soon as a version can have been missed. */
  readonly isComplete: boolean;
  stop(): Promise<void>;
}

export interface RecorderInit {
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Else objects are read one by one, over and over. */
  readonly mayWatch: boolean;
}

/** How often objects are read that cannot be watched. */
const POLL_MS = 300;
const AGAIN_MS = 500;

/** Resolves when the watch is open. @throws KubeError */
export async function startRecorder<T extends KubeObject>(
  run: Run,
  init: RecorderInit,
): Promise<Recorder<T>> {
  const seen = new Map<string, SeenVersion<T>[]>();
  const ended = new AbortController();
  const signal = AbortSignal.any([run.signal, ended.signal]);
  let isComplete = init.mayWatch;

  function note(object: T): void {
    const versions = seen.get(object.metadata.uid) ?? [];
    seen.set(object.metadata.uid, versions);
    const { resourceVersion } = object.metadata;
    if (versions.some((each) => each.object.metadata.resourceVersion === resourceVersion)) return;
    versions.push({ object, at: run.clock() });
    // An answer may overtake the watch.
    versions.sort(
      (a, b) =>
        Number(a.object.metadata.resourceVersion) - Number(b.object.metadata.resourceVersion),
    );
  }

  const path = init.resource.collection(init.namespace);
  const { labelSelector, fieldSelector } = init;
  const selectors = {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };

  function list(): Promise<string> {
    const take = (object: StoredObject): void => note(object as unknown as T);
    return listPages({ client: run.client, path, ...selectors }, take, signal);
  }

  let version = '';

  async function follow(): Promise<void> {
    const query = {
      watch: true,
      resourceVersion: version,
      allowWatchBookmarks: true,
      ...selectors,
    };
    const body = await run.client.stream({ method: 'GET', path, query, signal });
    await decodeWatch<T & StoredObject>(body, undefined, (event) => {
      if (event.type === 'put') note(event.object);
      version = versionOf(event);
    });
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await follow().catch(async (error: unknown) => {
        if (signal.aborted) return;
        isComplete = false;
        run.progress(`the watch broke, and goes on: ${messageOf(error)}`);
        await run.delay(AGAIN_MS, signal).catch(() => undefined);
        version = await list().catch(() => version);
      });
    }
  }

  async function poll(): Promise<void> {
    while (!signal.aborted) {
      for (const versions of seen.values()) {
        const metadata = versions.at(-1)?.object.metadata;
        if (metadata === undefined) continue;
        const object = { method: 'GET', path: init.resource.object(metadata), signal } as const;
        await run.client.request<T>(object).then(note, () => undefined);
      }
      await run.delay(POLL_MS, signal).catch(() => undefined);
    }
  }

  if (init.mayWatch) version = await list();
  const running = init.mayWatch ? watch() : poll();
  return {
    versionsOf: (uid) => seen.get(uid) ?? [],
    objects: () => [...seen.values()].flatMap((versions) => versions.at(-1)?.object ?? []),
    add: note,
    get isComplete() {
      return isComplete;
    },
    stop: async () => {
      ended.abort(new Error('the runner has seen enough'));
      await running;
    },
  };
}

function versionOf(event: WatchEvent<StoredObject>): string {
  return event.type === 'bookmark' ? event.resourceVersion : event.object.metadata.resourceVersion;
}
