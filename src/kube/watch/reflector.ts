// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import type { Clock, Delay, Log, Random } from '../../ports.ts';
import type { Client } from '../client/client.ts';
import { isNewer, type StoredObject } from '../resource/object.ts';
import type { OnChange } from '../resource/store.ts';
import { createIdleTimeout, type IdleTimeout } from './idle-timeout.ts';
import { listPages, readVersion } from './list-pages.ts';
import { createObjectCache, type ObjectCache } from './object-cache.ts';
import { decodeWatch, watchMediaTypes } from './watch-decoder.ts';
import { WatchError, classifyWatchError, type WatchFailure } from './watch-error.ts';
import { WatchHealth } from './watch-health.ts';
import type { ReadMessage } from './watch-message.ts';
import { watchQuery } from './watch-query.ts';

/** Which watch: one collection may have many, and each can fail alone. */
export interface WatchTarget {
  /** The collection's path. */
  readonly resource: string;
  /** Its field selector; '' without one. */
  readonly selector: string;
}

/** What a reflector reports. */
export interface WatchMetrics {
  /** `reason`: `ended`, or as {@link classifyWatchError} names it. */
  watchRestart(target: WatchTarget, reason: string): void;
  /** A watch event arrived, a bookmark at least every 75 s; Unix seconds of our clock. */
  watchEvent(target: WatchTarget, seconds: number): void;
  /** The watch was stopped on purpose; it is not silent because of a fault. */
  watchStopped(target: WatchTarget): void;
}

/** What a {@link Reflector} watches, and what it needs for that. */
export interface ReflectorInit<T> {
  readonly client: Client;
  /** The collection's path. */
  readonly path: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Decodes an object in protobuf, which is then requested; a response in JSON is read, too. */
  readonly readMessage?: ReadMessage<T> | undefined;
  /** The media type in JSON to ask for, such as that of partial metadata. Default: whole objects. */
  readonly accept?: string;
  /**
   * Called before each list or watch. It resolves to the reason why none can succeed now, such as a missing
   * permission; then the reflector calls it again after its backoff.
   */
  readonly preflight?: () => Promise<string | undefined>;
  /** Which objects are cached; the others are dropped at once. Default: all. */
  readonly keep?: (object: T) => boolean;
  /** Reduces an object before it is cached, as client-go's TransformFunc; its metadata must stay. */
  readonly transform?: (object: T) => T;
  /**
   * Called for each change, in the order of events. Must be quick. What it throws is logged and dropped. After
   * an outage of the server it is called for every object, with the same one as `now` and `before`.
   */
  readonly onEvent: OnChange<T>;
  readonly clock: Clock;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: WatchMetrics;
}

/**
 * A collection that is cached in memory and kept up to date while `run` runs. Changes are reported while the
 * first list is still being received: the first pending object need not wait for the last.
 */
export interface Reflector<T> {
  /** Lists and watches until `signal` is aborted, then resolves. Never rejects. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  /** True once the first full list is cached. */
  readonly synced: boolean;
  /** Resolves when it is synced; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** The resourceVersion that the cache has reached; undefined while a full list is due, or being received. */
  readonly version: string | undefined;
  /** The last error while there is no working watch. */
  readonly failure: string | undefined;
  get(key: string): T | undefined;
  list(): readonly T[];
  /**
   * Applies the response to a write of our own, so that no stale read follows it. Its metadata is enough, in
   * the object that was sent: `{...sent, metadata: response.metadata}`.
   */
  applyWrite(object: T): void;
  /** Drops every object, reporting each to `onEvent`, because the watch of the collection has ended. */
  clear(): void;
}

/** Bookmarks come every minute, spread by a quarter: a longer silence is a dead connection. */
const WATCH_IDLE_MS = 90_000;
/** Something in between cuts a watch that ends sooner: it is reconnected after a backoff. */
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
  /** The server cannot stream a list: it is old, or the feature is off. */
  #paged = false;
  /** The watch was answered, and has sent nothing. */
  #mute = false;
  /** The last watch failed in a way in which etcd may have been restored meanwhile. */
  #doubtful = false;

  constructor(init: ReflectorInit<T>) {
    this.#init = init;
    this.#target = { resource: init.path, selector: init.fieldSelector ?? '' };
    this.#health = new WatchHealth(init.random);
    this.#cache = createObjectCache<T>(init.keep ?? (() => true), guarded(init), init.transform);
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
    // A function: the compiler does not know that the property changes.
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

  /** One list, where one is due, and one watch until its end. */
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
   * A watch from a version that the server has not reached is silent until etcd has caught up, and what happens until
   * then is never sent. So after each outage the server is asked once which version it has: a lower one than ours is
   * that of an etcd restored from a backup.
   */
  async #compareVersion(signal: AbortSignal): Promise<void> {
    const { path, log, metrics } = this.#init;
    const known = this.#cache.resourceVersion;
    // A list that is due anyway leaves no doubt.
    const now = known === undefined ? undefined : await readVersion(this.#init, signal);
    this.#doubtful = false;
    if (known === undefined || now === undefined || !isNewer(known, now)) return;
    this.#cache.invalidate();
    metrics.watchRestart(this.#target, 'restored');
    log.warn({ path, known, now }, 'etcd has an older state than was seen before, listing anew');
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
    else this.#recover();
    await decodeWatch(body, readMessage, (event) => {
      // Events that arrived before the signal was aborted are dropped, too.
      signal.throwIfAborted();
      idle.reset();
      this.#mute = false;
      if (!this.#cache.apply(event)) {
        throw new WatchError('disordered', 'the watch sent an event older than the one before it');
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

  /** After an outage every object is reported again: what failed meanwhile need not wait out its backoff. */
  #recover(): void {
    if (this.#health.recovered()) this.#cache.resync();
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    this.#cache.beginList();
    const add = (object: StoredObject): void => {
      this.#cache.addListed(object as T);
    };
    this.#cache.completeList(await listPages(this.#init, add, signal));
    this.#checkSynced();
  }

  /**
   * A server sends a bookmark within a minute, but none, nor any event, to a watch from a version that it has not
   * reached: etcd was restored from a backup. That watch would be silent until etcd has caught up.
   */
  #isAhead({ reason }: WatchFailure): boolean {
    return reason === 'silent' && this.#mute;
  }

  async #backOff(error: unknown, signal: AbortSignal): Promise<void> {
    const { path, delay, log, metrics } = this.#init;
    const failure = classifyWatchError(error, this.#cache.resourceVersion === undefined);
    if (failure.relist || this.#isAhead(failure)) this.#cache.invalidate();
    if (failure.paged) this.#paged = true;
    if (failure.doubtful) this.#doubtful = true;
    metrics.watchRestart(this.#target, failure.reason);
    const wait = this.#health.failed(failure);
    log[failure.reason === 'withheld' ? 'debug' : 'warn'](
      { path, reason: failure.reason, error: failure.message, waitMs: Math.round(wait) },
      'watch closed, reconnecting',
    );
    await delay(wait, signal).catch(() => undefined);
  }
}

/** A listener that throws must not cost the events that follow. */
function guarded<T>({ onEvent, path, log }: ReflectorInit<T>): OnChange<T> {
  return (key, now, before) => {
    try {
      onEvent(key, now, before);
    } catch (error) {
      log.error({ path, key, error: messageOf(error) }, 'watch event handler failed');
    }
  };
}
