// SPDX-License-Identifier: Apache-2.0
/** Brings checkpoints out of the cluster: whoever has root in it could rewrite everything else. */
import { messageOf } from '../../../errors.ts';
import { backoffDelay } from '../../../kube/wait/backoff.ts';
import { createWakeup, type Wakeup } from '../../../kube/wait/wakeup.ts';
import type { LedgerStore } from '../../../ledger/index.ts';
import type { Component } from '../../../runtime/component/component.ts';
import type { Destination, OutgoingCheckpoint } from './destination.ts';

/** What checkpoints are published with. */
export interface PublisherInit {
  readonly component: Component;
  readonly store: Pick<LedgerStore, 'logs' | 'checkpoint' | 'cosign'>;
  readonly destinations: readonly Destination[];
  /** How long at least between two checkpoints for one place. */
  readonly intervalSeconds: number;
  /** A witness has signed a checkpoint, and its line is kept. */
  readonly onCosigned?: (head: { readonly log: number; readonly size: number }) => Promise<void>;
  /** Only who leads publishes. */
  readonly leads: () => boolean;
}

/** Publishes, and says what does not work. */
export interface Publisher {
  /** There is a new checkpoint. */
  readonly wake: () => void;
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const RETRY = { firstMs: 5_000, maxMs: 300_000 };
/** Looks again, should a wakeup come to nothing. */
const IDLE_MILLISECONDS = 60_000;
/** The log that is appended to, and the one before it, whose end may not be everywhere yet. */
const PUBLISHED_LOGS = 2;

/** Each place has a loop of its own: one that is away keeps no other waiting. */
export function createPublisher(init: PublisherInit): Publisher {
  const { component, destinations } = init;
  const places = destinations.map((destination) => new Place(init, destination));
  return {
    wake: () => {
      for (const place of places) place.wakeup.wake();
    },
    warnings: () =>
      places.flatMap(({ destination, fault }) =>
        fault === undefined ? [] : [`${destination.name} has not the last checkpoint: ${fault}`],
      ),
    run: async (signal) => {
      for (const { name } of destinations) component.metrics.ledgerPublished(name, {});
      await Promise.all(places.map((place) => place.run(signal)));
    },
  };
}

class Place {
  readonly #init: PublisherInit;
  readonly destination: Destination;
  readonly wakeup: Wakeup;
  /** Why it lacks the last checkpoint. */
  fault: string | undefined;
  /** The number of a log to the size that the place has. */
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

  /** Returns how many checkpoints the place took. */
  async #pass(signal: AbortSignal): Promise<number> {
    const { component, leads } = this.#init;
    if (!leads()) return 0;
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

  #failed(why: string, contradicted: boolean): void {
    const { log } = this.#init.component;
    const words = { destination: this.destination.name, error: why };
    if (this.fault !== why) {
      if (contradicted) log.error(words, 'a checkpoint is contradicted from outside');
      else log.warn(words, 'a checkpoint is not published');
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

  #measure(more: { readonly at?: number; readonly contradicted: boolean }): void {
    const waitingSince = this.#waitingSince === undefined ? 0 : this.#waitingSince / 1000;
    this.#init.component.metrics.ledgerPublished(this.destination.name, { waitingSince, ...more });
  }
}
