// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import type { Clock, Delay, Log, Random } from '../../ports.ts';
import { backoffDelay } from '../wait/backoff.ts';
import type { Client, Query } from '../client/client.ts';
import { listPages } from './list-pages.ts';
import { createIdleTimeout, type IdleTimeout } from './idle-timeout.ts';
import { createObjectCache, type ObjectCache } from './object-cache.ts';
import type { OnChange } from '../resource/store.ts';
import { watchMediaTypes, decodeWatch } from './watch-decoder.ts';
import type { ReadMessage } from './watch-message.ts';
import { WatchError, classifyWatchError } from './watch-error.ts';
import type { StoredObject } from '../resource/object.ts';

/** Which watch: of one collection there may be many, and each can die alone. */
export interface WatchTarget {
  /** The collection's path. */
  readonly resource: string;
  /** Its field selector; '' without one. */
  readonly selector: string;
}

/** What a reflector counts. */
export interface WatchMetrics {
  /** `reason`: `ended`, or as {@link classifyWatchError} names it. */
  watchRestart(watched: WatchTarget, reason: string): void;
  /** A line of the watch came, a bookmark at least every 75 s; Unix seconds. */
  watchEvent(watched: WatchTarget, seconds: number): void;
  /** Nobody watches that any longer: it is not silent, it is over. */
  watchStopped(watched: WatchTarget): void;
}

export interface ReflectorInit<T> {
  readonly client: Client;
  /** The collection's path. */
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Reads an object in protobuf, which is asked for then; JSON is read all the same. */
  readonly readMessage?: ReadMessage<T> | undefined;
  /**
   * Asked before each list or watch: why there is no use in it now, if there is none. Then it is asked
   * again, as often as a refused call would be tried again.
   */
  readonly preflight?: () => Promise<string | undefined>;
  /** Objects for which this is false are forgotten at once. */
  readonly keep?: (object: T) => boolean;
  /** What is kept of an object that is; its metadata at least. */
  readonly transform?: (object: T) => T;
  /**
   * Called in the order of events; must be quick. What it throws is logged, and lost. After an outage
   * of the server it is called for every object, with the same one as `now` and `before`.
   */
  readonly onEvent: OnChange<T>;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WatchMetrics;
}

/**
 * A collection mirrored in memory, kept up to date for as long as `run` runs. Events come while the
 * first list is still under way: the first pending object need not wait for the last.
 */
export interface Reflector<T> {
  /** Lists and watches until `signal` is aborted; then resolves. Never rejects. Once only. */
  run(signal: AbortSignal): Promise<void>;
  /** True once the first full list is in the store. */
  readonly synced: boolean;
  /** Resolves when it is synced; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** The last error while there is no working watch. */
  readonly failure: string | undefined;
  get(key: string): T | undefined;
  list(): readonly T[];
  /**
   * Takes in what a write of our own was answered with, so that no stale read follows it. Metadata
   * alone will do, put over what was sent: `{...sent, metadata: answer.metadata}`.
   */
  applyWrite(object: T): void;
  /** Forgets everything, telling `onEvent`: nobody is interested any more. */
  clear(): void;
}

/** client-go's reflector: 0.8 s doubling to 30 s. */
const FIRST_BACKOFF_MS = 800;
const MAX_BACKOFF_MS = 30_000;
/** A server that does not answer is not spared by waiting, and pods wait for us when it is back. */
const MAX_ABSENCE_MS = 5_000;
/** The server ends a watch after this; spread so that not all watches come back at once. */
const WATCH_SECONDS = 290;
const WATCH_SPREAD_SECONDS = 60;
/** Bookmarks come every minute, spread by a quarter: longer silence is a dead connection. */
const SILENCE_MS = 90_000;
/** A watch that ends sooner was cut by something in between: no tight loop. */
const SHORTEST_WATCH_MS = 1_000;

export function createReflector<T extends StoredObject>(init: ReflectorInit<T>): Reflector<T> {
  return new RunningReflector(init);
}

class RunningReflector<T extends StoredObject> implements Reflector<T> {
  failure: string | undefined;
  readonly #init: ReflectorInit<T>;
  readonly #watched: WatchTarget;
  readonly #mirror: ObjectCache<T>;
  readonly #synced = Promise.withResolvers<undefined>();
  /** The server cannot stream the list (old, or the feature is off). */
  #paged = false;
  #failures = 0;
  /** Why the last one failed. */
  #reason = '';
  /** The server could not serve us: meanwhile others' calls will have failed too. */
  #outage = false;

  constructor(init: ReflectorInit<T>) {
    this.#init = init;
    this.#watched = { resource: init.path, selector: init.fieldSelector ?? '' };
    const tell: OnChange<T> = (...change) => {
      this.#tell(...change);
    };
    this.#mirror = createObjectCache<T>(init.keep ?? (() => true), tell, init.transform);
  }

  get synced(): boolean {
    return this.#mirror.synced;
  }

  get(key: string): T | undefined {
    return this.#mirror.get(key);
  }

  list(): readonly T[] {
    return this.#mirror.values();
  }

  applyWrite(object: T): void {
    this.#mirror.applyWrite(object);
  }

  clear(): void {
    this.#mirror.clear();
    this.#init.metrics.watchStopped(this.#watched);
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    const stopped = Promise.withResolvers<never>();
    const stop = (): void => {
      stopped.reject(signal.reason);
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    return Promise.race([this.#synced.promise, stopped.promise]).finally(() => {
      signal.removeEventListener('abort', stop);
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    // A function: the property changes behind the compiler's back.
    const stopped = (): boolean => signal.aborted;
    while (!stopped()) {
      try {
        await this.#cycle(signal);
      } catch (error) {
        if (stopped()) return;
        await this.#recover(error, signal);
      }
    }
  }

  /** One list, where one is due, and one watch until its end. */
  async #cycle(signal: AbortSignal): Promise<void> {
    const started = this.#init.clock();
    const withheld = await this.#init.preflight?.();
    if (withheld !== undefined) throw new WatchError('withheld', withheld);
    if (this.#mirror.resourceVersion === undefined && this.#paged) await this.#listPages(signal);
    const liveness = createIdleTimeout({ ...this.#init, timeoutMs: SILENCE_MS }, signal);
    try {
      await this.#watch(liveness);
    } finally {
      liveness.stop();
    }
    const short = this.#init.clock() - started < SHORTEST_WATCH_MS;
    if (short && !signal.aborted) throw new WatchError('short', 'the watch ended at once');
    this.#failures = 0;
    this.#init.metrics.watchRestart(this.#watched, 'ended');
  }

  async #watch(liveness: IdleTimeout): Promise<void> {
    const { client, path, clock, metrics, readMessage } = this.#init;
    const initial = this.#mirror.resourceVersion === undefined;
    const query = this.#watchQuery();
    const { signal } = liveness;
    const accept = watchMediaTypes(readMessage);
    const body = await client.stream({ method: 'GET', path, query, accept, signal });
    if (initial) this.#mirror.beginList();
    else this.#heal();
    await decodeWatch(body, readMessage, (event) => {
      // What had come before we were stopped is nobody's business any more.
      signal.throwIfAborted();
      liveness.reset();
      if (!this.#mirror.apply(event)) {
        throw new WatchError('disordered', 'the watch went back in time');
      }
      metrics.watchEvent(this.#watched, clock() / 1000);
      this.#failures = 0;
      this.#noteHealth();
    });
  }

  /** Once the list is whole, the watch works. */
  #noteHealth(): void {
    if (this.#mirror.resourceVersion === undefined) return;
    this.#heal();
    this.#synced.resolve(undefined);
  }

  /** After an outage everything is told again: what failed meanwhile need not wait out its backoff. */
  #heal(): void {
    this.failure = undefined;
    if (!this.#outage) return;
    this.#outage = false;
    this.#mirror.resync();
  }

  #watchQuery(): Query {
    const { fieldSelector, labelSelector, random } = this.#init;
    const { resourceVersion } = this.#mirror;
    const spread = (Buffer.from(random(1)).readUInt8() / 256) * WATCH_SPREAD_SECONDS;
    return {
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds: WATCH_SECONDS + Math.floor(spread),
      fieldSelector,
      labelSelector,
      ...(resourceVersion === undefined
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
        : { resourceVersion }),
    };
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    this.#mirror.beginList();
    const resourceVersion = await listPages(
      this.#init,
      (object) => {
        this.#mirror.addListed(object as T);
      },
      signal,
    );
    this.#mirror.completeList(resourceVersion);
    this.#noteHealth();
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { path, delay, log, metrics, random } = this.#init;
    const trouble = classifyWatchError(error, this.#mirror.resourceVersion === undefined);
    this.failure = trouble.message;
    if (trouble.outage) this.#outage = true;
    if (trouble.relist) this.#mirror.invalidate();
    if (trouble.paged) this.#paged = true;
    metrics.watchRestart(this.#watched, trouble.reason);
    // Another trouble begins anew: a version that an outage made too old is not one more outage.
    if (trouble.reason !== this.#reason) this.#failures = 0;
    this.#reason = trouble.reason;
    const maxMs = trouble.reason === 'unreachable' ? MAX_ABSENCE_MS : MAX_BACKOFF_MS;
    const wait = Math.max(
      backoffDelay(this.#failures, { firstMs: FIRST_BACKOFF_MS, maxMs, random }),
      trouble.retryAfter,
    );
    this.#failures += 1;
    log[trouble.reason === 'withheld' ? 'debug' : 'warn'](
      { path, error: trouble.message, waitMs: Math.round(wait) },
      'a watch broke; it is taken up again',
    );
    await delay(wait, signal).catch(() => undefined);
  }

  /** A throwing listener must not cost the events behind it. */
  #tell(...change: Parameters<OnChange<T>>): void {
    try {
      this.#init.onEvent(...change);
    } catch (error) {
      const { path, log } = this.#init;
      log.error({ path, key: change[0], error: messageOf(error) }, 'a listener of a watch failed');
    }
  }
}
