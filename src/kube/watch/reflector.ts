// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import type { Clock, Delay, Log, Random } from '#base/ports.ts';
import type { Client } from '../client/client.ts';
import { isNewer, objectKey, type StoredObject } from '../resource/object.ts';
import type { OnChange } from '../resource/store.ts';
import { createIdleTimeout, type IdleTimeout } from './idle-timeout.ts';
import { listPages, readVersion } from './list-pages.ts';
import { createObjectCache, type ObjectCache } from './object-cache.ts';
import { decodeWatch, watchMediaTypes } from './watch-decoder.ts';
import { WatchError, classifyWatchError, type WatchFailure } from './watch-error.ts';
import { WatchHealth } from './watch-health.ts';
import type { ReadMessage } from './watch-message.ts';
import { watchQuery } from './watch-query.ts';

/** The identity of a watch. One collection may have many, and each can fail alone. */
export interface WatchTarget {
  /** The collection's path. */
  readonly resource: string;
  /** Its field selector, or '' without one. */
  readonly selector: string;
}

/** Receives the counts of a reflector. */
export interface WatchMetrics {
  /** Counts a restart. `reason`: `ended`, or a reason of {@link classifyWatchError}. */
  watchRestart(target: WatchTarget, reason: string): void;
  /**
   * Records the time of a watch event, in Unix seconds of the local clock. A bookmark arrives at
   * least every 75 s.
   */
  watchEvent(target: WatchTarget, seconds: number): void;
  /** Records that the watch was stopped on purpose, so that its silence is not a fault. */
  watchStopped(target: WatchTarget): void;
}

/** The collection and the dependencies of a {@link Reflector}. */
export interface ReflectorInit<T> {
  readonly client: Client;
  /** The collection's path. */
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /**
   * Decodes an object in protobuf. If set, the reflector requests protobuf, and also reads a
   * response in JSON.
   */
  readonly readMessage?: ReadMessage<T> | undefined;
  /**
   * The media type to request in JSON, such as that of partial metadata. Default: whole objects.
   */
  readonly accept?: string;
  /**
   * Called before each list or watch. Resolves to the reason why none can succeed now, such as a
   * missing permission. The reflector then calls it again after its backoff.
   */
  readonly preflight?: () => Promise<string | undefined>;
  /** Selects the objects to cache. Others are dropped at once. Default: all. */
  readonly keep?: (object: T) => boolean;
  /**
   * Reduces an object before it is cached, as client-go's TransformFunc does. Its metadata must
   * stay.
   */
  readonly transform?: (object: T) => T;
  /**
   * Called for each change, in the order of events. Must be quick. What it throws is logged and
   * dropped. After an outage of the server it is called for every object, with the same one as
   * `now` and `before`.
   */
  readonly onEvent: OnChange<T>;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WatchMetrics;
}

/**
 * A collection that is cached in memory and kept up to date while `run` runs. It reports changes
 * while the first list is still arriving, so that the first pending object need not wait for the
 * last.
 */
export interface Reflector<T> {
  /** Lists and watches until `signal` is aborted, then resolves. Never rejects. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  /** True once the first full list is cached. */
  readonly synced: boolean;
  /** Resolves when it is synced. Rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /**
   * The resourceVersion that the cache has reached. Undefined while a full list is due or arriving.
   */
  readonly version: string | undefined;
  /** The last error while there is no working watch. */
  readonly failure: string | undefined;
  get(key: string): T | undefined;
  list(): readonly T[];
  /**
   * Applies the response to an own write, so that no stale read follows it. Its metadata suffices,
   * in the object that was sent: `{...sent, metadata: response.metadata}`.
   */
  applyWrite(object: T): void;
  /**
   * Drops every object, reporting each to `onEvent`, because the watch of the collection has ended.
   */
  clear(): void;
}

/**
 * The longest silence. Bookmarks come every minute, spread by a quarter: a longer silence is a dead
 * connection.
 */
const WATCH_IDLE_MS = 90_000;
/**
 * The shortest plausible watch. A proxy or load balancer cuts one that ends sooner, and the
 * reflector reconnects after a backoff.
 */
const SHORTEST_WATCH_MS = 1_000;

/** @returns a reflector that is not running yet */
export function createReflector<T extends StoredObject>(init: ReflectorInit<T>): Reflector<T> {
  return new ListWatcher(init);
}

class ListWatcher<T extends StoredObject> implements Reflector<T> {
  readonly #init: ReflectorInit<T>;
  readonly #target: WatchTarget;
  readonly #cache: ObjectCache<T>;
  readonly #health: WatchHealth;
  readonly #synced = Promise.withResolvers<undefined>();
  /** True if the server cannot stream a list: it is old, or the feature is off. */
  #paged = false;
  /** True if the server answered the watch, and has sent nothing. */
  #mute = false;
  /** True if the last watch failed in a way in which etcd may have been restored meanwhile. */
  #doubtful = false;

  constructor(init: ReflectorInit<T>) {
    this.#init = init;
    this.#target = { resource: init.path, selector: init.fieldSelector ?? '' };
    this.#health = new WatchHealth(init.random);
    this.#cache = createObjectCache<T>(reducer(init), guarded(init));
  }

  get failure(): string | undefined {
    return this.#health.failure;
  }

  get synced(): boolean {
    return this.#cache.synced;
  }

  get version(): string | undefined {
    return this.#cache.resourceVersion;
  }

  get(key: string): T | undefined {
    return this.#cache.get(key);
  }

  list(): readonly T[] {
    return this.#cache.values();
  }

  applyWrite(object: T): void {
    this.#cache.applyWrite(object);
  }

  clear(): void {
    this.#cache.clear();
    this.#init.metrics.watchStopped(this.#target);
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
    // A function, because the compiler does not know that the property changes.
    const stopped = (): boolean => signal.aborted;
    while (!stopped()) {
      try {
        await this.#listAndWatch(signal);
      } catch (error) {
        if (stopped()) return;
        await this.#backOff(error, signal);
      }
    }
  }

  /** Makes one list, if it is due, and one watch until its end. */
  async #listAndWatch(signal: AbortSignal): Promise<void> {
    const started = this.#init.clock();
    const withheld = await this.#init.preflight?.();
    if (withheld !== undefined) throw new WatchError('withheld', withheld);
    if (this.#doubtful) await this.#compareVersion(signal);
    if (this.#cache.resourceVersion === undefined && this.#paged) await this.#listPages(signal);
    const idle = createIdleTimeout({ ...this.#init, timeoutMs: WATCH_IDLE_MS }, signal);
    try {
      await this.#watch(idle);
    } finally {
      idle.stop();
    }
    const short = this.#init.clock() - started < SHORTEST_WATCH_MS;
    if (short && !signal.aborted) throw new WatchError('short', 'the watch closed at once');
    this.#health.progressed();
    this.#init.metrics.watchRestart(this.#target, 'ended');
  }

  /**
   * Compares the known version with the server's, once after each outage. A lower one is that of an
   * etcd restored from a backup.
   *
   * A watch from a version that the server has not reached is silent until etcd has caught up, and
   * the server never sends what happens until then.
   */
  async #compareVersion(signal: AbortSignal): Promise<void> {
    const { path, log, metrics } = this.#init;
    const known = this.#cache.resourceVersion;
    // If a list is due anyway, there is no doubt.
    const now = known === undefined ? undefined : await readVersion(this.#init, signal);
    this.#doubtful = false;
    if (known === undefined || now === undefined || !isNewer(known, now)) return;
    this.#cache.invalidate();
    metrics.watchRestart(this.#target, 'restored');
    log.warn({ path, known, now }, 'etcd has an older state than was seen before, listing again');
  }

  async #watch(idle: IdleTimeout): Promise<void> {
    const { client, path, clock, metrics, readMessage } = this.#init;
    const initial = this.#cache.resourceVersion === undefined;
    const query = watchQuery(this.#init, this.#cache.resourceVersion);
    const { signal } = idle;
    this.#mute = false;
    const accept = this.#init.accept ?? watchMediaTypes(readMessage);
    const body = await client.stream({ method: 'GET', path, query, accept, signal });
    this.#mute = !initial;
    if (initial) this.#cache.beginList();
    else {
      this.#health.opened(clock());
      this.#recover();
    }
    await decodeWatch(body, readMessage, (event) => {
      // Also drops events that arrived before the signal was aborted.
      signal.throwIfAborted();
      idle.reset();
      this.#mute = false;
      if (!this.#cache.apply(event)) {
        throw new WatchError('disordered', 'the watch sent an event older than its predecessor');
      }
      metrics.watchEvent(this.#target, clock() / 1000);
      this.#health.progressed();
      this.#checkSynced();
    });
  }

  /** The watch works once the list is complete. */
  #checkSynced(): void {
    if (this.#cache.resourceVersion === undefined) return;
    this.#recover();
    this.#synced.resolve(undefined);
  }

  /**
   * Reports every object again after an outage: what failed meanwhile need not wait out its
   * backoff.
   */
  #recover(): void {
    if (this.#health.recovered()) this.#cache.resync();
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    this.#cache.beginList();
    const add = (object: T): void => {
      this.#cache.addListed(object);
    };
    this.#cache.completeList(await listPages(this.#init, add, signal));
    this.#checkSynced();
  }

  /**
   * Reports whether the watch began at a version that the server has not reached, because etcd was
   * restored from a backup. A server sends a bookmark within a minute, but nothing to such a watch,
   * until etcd has caught up.
   */
  #isAhead({ reason }: WatchFailure): boolean {
    return reason === 'silent' && this.#mute;
  }

  async #backOff(error: unknown, signal: AbortSignal): Promise<void> {
    const { path, clock, delay, log, metrics } = this.#init;
    const failure = classifyWatchError(error, this.#cache.resourceVersion === undefined);
    if (failure.relist || this.#isAhead(failure)) this.#cache.invalidate();
    if (failure.paged) this.#paged = true;
    if (failure.doubtful) this.#doubtful = true;
    metrics.watchRestart(this.#target, failure.reason);
    const wait = this.#health.failed(failure, clock());
    log[failure.reason === 'withheld' ? 'debug' : 'warn'](
      { path, reason: failure.reason, error: failure.message, waitMs: Math.round(wait) },
      'watch closed, reconnecting',
    );
    await delay(wait, signal).catch(() => undefined);
  }
}

/**
 * Returns the function that reduces an object to its cached fields. It leaves out an object that
 * `keep` or `transform` cannot read: it must not cost the others of its collection.
 */
function reducer<T extends StoredObject>({
  keep = () => true,
  transform = (object) => object,
  path,
  log,
}: ReflectorInit<T>): (object: T) => T | undefined {
  return (object) => {
    try {
      return keep(object) ? transform(object) : undefined;
    } catch (error) {
      const key = objectKey(object);
      log.error({ path, key, error: messageOf(error) }, 'cannot read a watched object');
      return undefined;
    }
  };
}

/** Catches errors of the listener, which must not cost the events that follow. */
function guarded<T>({ onEvent, path, log }: ReflectorInit<T>): OnChange<T> {
  return (key, now, before) => {
    try {
      onEvent(key, now, before);
    } catch (error) {
      log.error({ path, key, error: messageOf(error) }, 'watch event handler failed');
    }
  };
}
