// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object/object.ts';
import { messageOf } from '../errors.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import type { Resource } from '../kube/resource/resource.ts';
import type { WatchEvent } from '../kube/watch/watch-event.ts';
import { readWatch } from '../kube/watch/watch-events.ts';
import type { Stored } from '../kube/resource/store.ts';
import type { Kit } from './run.ts';

/** One version of an object, and when it was seen: milliseconds of the kit's clock. */
export interface Seen<T> {
  readonly object: T;
  readonly at: number;
}

/** Writes down every version of the objects of a collection. */
export interface Recorder<T> {
  /** In the order in which they came. */
  versionsOf(uid: string): readonly Seen<T>[];
  /** The last version of every object. */
  objects(): readonly T[];
  /** What the kit was told by an answer: a version like any other. */
  note(object: T): void;
  /** False as soon as a version can have been missed. */
  readonly isWhole: boolean;
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
export async function record<T extends KubeObject>(
  kit: Kit,
  init: RecorderInit,
): Promise<Recorder<T>> {
  const seen = new Map<string, Seen<T>[]>();
  const ended = new AbortController();
  const signal = AbortSignal.any([kit.signal, ended.signal]);
  let isWhole = init.mayWatch;

  function note(object: T): void {
    const versions = seen.get(object.metadata.uid) ?? [];
    seen.set(object.metadata.uid, versions);
    const { resourceVersion } = object.metadata;
    if (versions.some((each) => each.object.metadata.resourceVersion === resourceVersion)) return;
    versions.push({ object, at: kit.clock() });
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
    const take = (object: Stored): void => note(object as unknown as T);
    return listPages({ client: kit.client, path, ...selectors }, take, signal);
  }

  let version = '';

  async function follow(): Promise<void> {
    const query = {
      watch: true,
      resourceVersion: version,
      allowWatchBookmarks: true,
      ...selectors,
    };
    const body = await kit.client.stream({ method: 'GET', path, query, signal });
    await readWatch<T & Stored>(body, undefined, (event) => {
      if (event.type === 'put') note(event.object);
      version = versionOf(event);
    });
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await follow().catch(async (error: unknown) => {
        if (signal.aborted) return;
        isWhole = false;
        kit.say(`the watch broke, and goes on: ${messageOf(error)}`);
        await kit.delay(AGAIN_MS, signal).catch(() => undefined);
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
        await kit.client.request<T>(object).then(note, () => undefined);
      }
      await kit.delay(POLL_MS, signal).catch(() => undefined);
    }
  }

  if (init.mayWatch) version = await list();
  const running = init.mayWatch ? watch() : poll();
  return {
    versionsOf: (uid) => seen.get(uid) ?? [],
    objects: () => [...seen.values()].flatMap((versions) => versions.at(-1)?.object ?? []),
    note,
    get isWhole() {
      return isWhole;
    },
    stop: async () => {
      ended.abort(new Error('the kit has seen enough'));
      await running;
    },
  };
}

function versionOf(event: WatchEvent<Stored>): string {
  return event.type === 'bookmark' ? event.resourceVersion : event.object.metadata.resourceVersion;
}
