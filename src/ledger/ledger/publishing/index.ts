// SPDX-License-Identifier: Apache-2.0
/**
 * Publishes checkpoints outside the cluster, because an attacker with root in the cluster could
 * rewrite everything in it.
 */
import { messageOf } from '#base/errors.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import { createWakeup, type Wakeup } from '#kube/wait/wakeup.ts';
import type { LedgerStore } from '#ledger/index.ts';
import type { Component } from '#component/contract.ts';
import type { Destination, OutgoingCheckpoint } from './destination.ts';
import * as messages from '../messages.ts';
import { LEDGER_SERIES } from '../metrics.ts';

/** Dependencies of the publisher. */
export interface PublisherInit {
  readonly component: Component;
  readonly store: Pick<LedgerStore, 'logs' | 'checkpoint' | 'cosign'>;
  readonly destinations: readonly Destination[];
  /** Minimum interval between two checkpoints for one destination. */
  readonly intervalSeconds: number;
  /** Called after the store has kept a witness's line. */
  readonly onCosigned?: (head: { readonly log: number; readonly size: number }) => Promise<void>;
  /** Reports whether this replica leads. Only the leader publishes. */
  readonly leads: () => boolean;
}

/** Publishes checkpoints and reports failures. */
export interface Publisher {
  /** Announces a new checkpoint. */
  readonly wake: () => void;
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const RETRY = { firstMs: 5_000, maxMs: 300_000 };
/** Longest sleep, in case a wakeup is lost. */
const IDLE_MILLISECONDS = 60_000;
/** Published logs: the open one, and the previous one, whose end may not be everywhere yet. */
const PUBLISHED_LOGS = 2;

/**
 * Returns a publisher with a loop for each destination, so that an outage of one does not delay the
 * others.
 */
export function createPublisher(init: PublisherInit): Publisher {
  const { component, destinations } = init;
  const places = destinations.map((destination) => new Place(init, destination));
  return {
    wake: () => {
      for (const place of places) place.wakeup.wake();
    },
    warnings: () =>
      places.flatMap(({ destination, fault }) =>
        fault === undefined ? [] : [messages.checkpointMissing(destination.name, fault)],
      ),
    run: async (signal) => {
      const { published, unpublished, contradicted } = component.metrics.of(LEDGER_SERIES);
      for (const { name: destination } of destinations) {
        // Start at 0, so that alerts cover a destination that never succeeded.
        published.set({ destination }, 0);
        unpublished.set({ destination }, 0);
        contradicted.set({ destination }, 0);
      }
      await Promise.all(places.map((place) => place.run(signal)));
    },
  };
}

class Place {
  readonly #init: PublisherInit;
  readonly destination: Destination;
  readonly wakeup: Wakeup;
  /** Why the destination lacks the last checkpoint. */
  fault: string | undefined;
  /** Published size by number of the log. */
  readonly #taken = new Map<number, number>();
  #failures = 0;
  #waitingSince: number | undefined;

  constructor(init: PublisherInit, destination: Destination) {
    this.#init = init;
    this.destination = destination;
    this.wakeup = createWakeup(init.component.delay);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { component, intervalSeconds } = this.#init;
    while (!signal.aborted) {
      const published = await this.#pass(signal);
      if (this.fault !== undefined) {
        const pause = backoffDelay(this.#failures - 1, { ...RETRY, random: component.random });
        await component.delay(pause, signal).catch(() => undefined);
      } else if (published > 0) {
        await component.delay(intervalSeconds * 1000, signal).catch(() => undefined);
      } else {
        await this.wakeup.wait(IDLE_MILLISECONDS, signal);
      }
    }
  }

  /** Publishes pending checkpoints. Returns the number that the destination took. */
  async #pass(signal: AbortSignal): Promise<number> {
    const { component, leads } = this.#init;
    if (!leads()) {
      this.#standBy();
      return 0;
    }
    try {
      const pending = await this.#pending();
      if (pending.length > 0) this.#waitingSince ??= component.clock();
      for (const checkpoint of pending) {
        const fault = await this.#publish(checkpoint, signal);
        if (fault === undefined) continue;
        if (!signal.aborted) this.#failed(fault.why, fault.kind === 'contradicted');
        return 0;
      }
      this.fault = undefined;
      this.#failures = 0;
      this.#waitingSince = undefined;
      if (pending.length > 0) this.#measure({ at: component.clock() / 1000, contradicted: false });
      return pending.length;
    } catch (error) {
      if (!signal.aborted) this.#failed(messageOf(error), false);
      return 0;
    }
  }

  /** Ends the fault, because the new leader publishes and reports its own. */
  #standBy(): void {
    if (this.fault === undefined) return;
    this.fault = undefined;
    this.#failures = 0;
    this.#waitingSince = undefined;
    this.#measure({ contradicted: false });
  }

  #failed(why: string, contradicted: boolean): void {
    const { log } = this.#init.component;
    const words = { destination: this.destination.name, error: why };
    if (this.fault !== why) {
      if (contradicted) log.error(words, messages.CHECKPOINT_CONTRADICTED);
      else log.warn(words, messages.CHECKPOINT_NOT_PUBLISHED);
    }
    this.fault = why;
    this.#failures += 1;
    this.#measure({ contradicted });
  }

  async #pending(): Promise<readonly OutgoingCheckpoint[]> {
    const { store } = this.#init;
    const pending: OutgoingCheckpoint[] = [];
    for (const log of (await store.logs()).slice(-PUBLISHED_LOGS)) {
      const note = await store.checkpoint(log.number);
      const size = Number(note?.split('\n')[1]);
      if (note === undefined || this.#taken.get(log.number) === size) continue;
      pending.push({ log, size, note });
    }
    return pending;
  }

  async #publish(
    checkpoint: OutgoingCheckpoint,
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'failed' | 'contradicted'; readonly why: string } | undefined> {
    const outcome = await this.destination.publish(checkpoint, signal);
    if (outcome.kind !== 'taken') return outcome;
    const { log, size } = checkpoint;
    if (outcome.cosignature !== undefined) {
      await this.#init.store.cosign({ log: log.number, size }, outcome.cosignature);
      await this.#init.onCosigned?.({ log: log.number, size });
    }
    this.#taken.set(log.number, size);
    return undefined;
  }

  #measure(now: { readonly at?: number; readonly contradicted: boolean }): void {
    const { name: destination } = this.destination;
    const { published, unpublished, contradicted } = this.#init.component.metrics.of(LEDGER_SERIES);
    if (now.at !== undefined) published.set({ destination }, now.at);
    unpublished.set({ destination }, (this.#waitingSince ?? 0) / 1000);
    contradicted.set({ destination }, Number(now.contradicted));
  }
}
