// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../errors.ts';
import type { Clock, Delay, Log, Random } from '../ports.ts';
import { backoffDelay } from './backoff.ts';
import type { Client, Query } from './client.ts';
import { KubeError } from './kube-error.ts';
import { lines } from './lines.ts';
import { createStore, storeKey, type OnChange, type Store, type Stored } from './store.ts';
import { readWatchEvent } from './watch-event.ts';

/** What a reflector counts. */
export interface WatchMetrics {
  watchRestart(resource: string, reason: string): void;
}

export interface ReflectorInit<T> {
  readonly client: Client;
  /** The collection's path. */
  readonly path: string;
  readonly fieldSelector?: string;
  /** Objects for which this is false are forgotten at once. */
  readonly keep?: (object: T) => boolean;
  readonly onEvent: OnChange<T>;
  /** The first full list is in the store: from now on "not there" means missing. */
  readonly onSynced?: () => void;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WatchMetrics;
}

/** A collection mirrored in memory, kept up to date for as long as `run` runs. */
export interface Reflector<T> {
  /** Lists and watches until `signal` is aborted; then resolves. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** True once the first full list is in the store. */
  readonly synced: boolean;
  /** The last error while there is no working watch. */
  readonly failure: string | undefined;
  get(key: string): T | undefined;
  list(): readonly T[];
  /** Takes in what a write of our own was answered with, so that no stale read follows it. */
  observe(object: T): void;
}

/** client-go's reflector: 0.8 s doubling to 30 s. */
const FIRST_BACKOFF_MS = 800;
const MAX_BACKOFF_MS = 30_000;
/** The server ends a watch after this; spread so that not all watches come back at once. */
const WATCH_SECONDS = 290;
/** Bookmarks come every minute: longer silence is a dead connection. */
const SILENCE_MS = 100_000;
/** A watch that ends sooner was cut by something in between: no tight loop. */
const SHORTEST_WATCH_MS = 1_000;
const PAGE = 500;

export function createReflector<T extends Stored>(init: ReflectorInit<T>): Reflector<T> {
  return new RunningReflector(init);
}

class RunningReflector<T extends Stored> implements Reflector<T> {
  synced = false;
  failure: string | undefined;
  readonly #init: ReflectorInit<T>;
  readonly #store: Store<T>;
  /** Where the next watch goes on; undefined: begin with a full list. */
  #resourceVersion: string | undefined;
  /** The server cannot stream the list (old, or the feature is off). */
  #paged = false;
  #failures = 0;

  constructor(init: ReflectorInit<T>) {
    this.#init = init;
    this.#store = createStore(init.keep ?? (() => true), init.onEvent);
  }

  get(key: string): T | undefined {
    return this.#store.get(key);
  }

  list(): readonly T[] {
    return this.#store.values();
  }

  observe(object: T): void {
    const known = this.#store.get(storeKey(object));
    if (known === undefined || isNewer(object, known)) this.#store.put(object);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const started = this.#init.clock();
        await this.#cycle(signal);
        if (signal.aborted) return;
        if (this.#init.clock() - started < SHORTEST_WATCH_MS)
          throw new Error('the watch ended at once');
        this.#restarted('ended');
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  async #cycle(signal: AbortSignal): Promise<void> {
    if (this.#resourceVersion === undefined && this.#paged) await this.#listPages(signal);
    await this.#watch(signal);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const initial = this.#resourceVersion === undefined;
    const chunks = await this.#init.client.stream({
      method: 'GET',
      path: this.#init.path,
      query: this.#watchQuery(initial),
      bodyTimeout: SILENCE_MS,
      signal,
    });
    const listed = initial ? new Set<string>() : undefined;
    for await (const line of lines(chunks)) this.#take(line, listed);
  }

  #watchQuery(initial: boolean): Query {
    const spread = Buffer.from(this.#init.random(1)).readUInt8();
    return {
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds: WATCH_SECONDS + (spread % 60),
      fieldSelector: this.#init.fieldSelector,
      ...(initial
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
        : { resourceVersion: this.#resourceVersion }),
    };
  }

  /** `listed` gathers the keys of the initial list until its end; what is not in it is gone. */
  #take(line: string, listed: Set<string> | undefined): void {
    const event = readWatchEvent<T>(line);
    this.failure = undefined;
    this.#failures = 0;
    if (event.type === 'bookmark') {
      if (event.initialEnd && listed !== undefined) this.#complete(listed);
      if (this.synced || listed === undefined) this.#resourceVersion = event.resourceVersion;
      return;
    }
    const key = storeKey(event.object);
    if (event.type === 'remove') this.#store.remove(key);
    else this.#store.put(event.object);
    if (event.type === 'remove') listed?.delete(key);
    else listed?.add(key);
    if (this.#resourceVersion !== undefined) {
      this.#resourceVersion = event.object.metadata.resourceVersion;
    }
  }

  #complete(listed: ReadonlySet<string>): void {
    this.#store.retain(listed);
    const first = !this.synced;
    this.synced = true;
    this.failure = undefined;
    this.#failures = 0;
    if (first) this.#init.onSynced?.();
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    const listed = new Set<string>();
    let next: string | undefined;
    let resourceVersion = '';
    do {
      const page = await this.#init.client.request<ListPage<T>>({
        method: 'GET',
        path: this.#init.path,
        query: { limit: PAGE, continue: next, fieldSelector: this.#init.fieldSelector },
        signal,
      });
      for (const item of page.items ?? []) {
        // Items of a list lack the two fields that every write must have.
        const object = { ...item, apiVersion: page.apiVersion, kind: kindOf(page) };
        listed.add(storeKey(object));
        this.#store.put(object);
      }
      resourceVersion = page.metadata.resourceVersion;
      next = page.metadata.continue === '' ? undefined : page.metadata.continue;
    } while (next !== undefined);
    this.#complete(listed);
    this.#resourceVersion = resourceVersion;
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const kube = error instanceof KubeError ? error : undefined;
    this.failure = messageOf(error);
    if (kube?.status === 410) {
      this.#resourceVersion = undefined;
    } else if (kube?.status === 422 || kube?.status === 400) {
      // sendInitialEvents is not known or not allowed there.
      this.#paged = true;
    }
    this.#restarted(kube === undefined ? 'broken' : String(kube.status));
    const wait = backoffDelay(this.#failures, {
      firstMs: FIRST_BACKOFF_MS,
      maxMs: MAX_BACKOFF_MS,
      random: this.#init.random,
    });
    this.#failures += 1;
    const { path, delay } = this.#init;
    this.#init.log.warn(
      { path, error: this.failure },
      'the watch broke; it will be taken up again',
    );
    await delay(Math.max(wait, kube?.retryAfter ?? 0), signal).catch(() => undefined);
  }

  #restarted(reason: string): void {
    this.#init.metrics.watchRestart(this.#init.path, reason);
  }
}

interface ListPage<T> {
  readonly apiVersion: string;
  /** The items' kind with `List` behind it. */
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly T[];
}

function kindOf(page: { readonly kind: string }): string {
  return page.kind.replace(/List$/, '');
}

/** resourceVersions of one collection are integers that grow (KEP-5504). */
function isNewer(a: Stored, b: Stored): boolean {
  return Number(a.metadata.resourceVersion) > Number(b.metadata.resourceVersion);
}
