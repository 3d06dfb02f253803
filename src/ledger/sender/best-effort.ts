// SPDX-License-Identifier: Apache-2.0
/** The mode `best-effort`: records wait in bounded memory, and overflow is counted. */
import { BoundedMap } from '#base/bounded-map.ts';
import type { Clock, Delay } from '#base/ports.ts';
import type { LedgerRecord } from '../records/record.ts';
import { BATCH_RECORDS } from './contract.ts';
import type { LedgerSender, SendBatch, SenderState } from './contract.ts';

/** Dependencies of the sender. */
export interface BestEffortParts {
  readonly send: SendBatch;
  readonly delay: Delay;
  readonly clock: Clock;
  readonly component: LedgerRecord['component'];
  /** Identifies this process. The keys of its gaps begin with it. */
  readonly incarnation: string;
  /** Maximum of waiting records. One has 2 to 4 KiB, with the certificate twice that. */
  readonly maxWaiting: number;
  /** Set if the sender has results only. Its gaps repeat it. */
  readonly of?: 'results';
}

/**
 * Remembered keys for each record that may wait. A component that cannot write its response to the
 * API server makes its record again within seconds. A key has some hundred bytes.
 */
const REMEMBERED = 5;

/** The first pause after a failure. Each later one is twice as long. */
const FIRST_PAUSE_MILLISECONDS = 500;
const LONGEST_PAUSE_MILLISECONDS = 30_000;

/** Consecutive lost records. */
interface Gap {
  lost: number;
  readonly from: string;
  to: string;
}

/** A sender that never blocks issuance. See {@link LedgerSender}. */
export class BestEffortSender implements LedgerSender {
  readonly #parts: BestEffortParts;
  readonly #waiting: LedgerRecord[] = [];
  /** Keys of earlier records, kept or lost, so that a repeat is neither kept nor counted again. */
  readonly #taken: BoundedMap<string, true>;
  readonly #end = new AbortController();
  #gap: Gap | undefined;
  #gaps = 0;
  #lost = 0;
  #failures = 0;
  /** Ends the current pause. */
  #pause: AbortController | undefined;
  /**
   * Whether a pause ended early since the last success. It does so only once, so that a batch that
   * never arrives keeps its backoff.
   */
  #hurried = false;
  #running: Promise<void> | undefined;

  constructor(parts: BestEffortParts) {
    this.#parts = parts;
    this.#taken = new BoundedMap(parts.maxWaiting * REMEMBERED);
  }

  get state(): SenderState {
    const [waiting, failing] = [this.#waiting.length, this.#failures > 0];
    return { mode: 'best-effort', waiting, lost: this.#lost, failing };
  }

  append(record: LedgerRecord): Promise<void> {
    if (this.#taken.get(record.key) === true) return Promise.resolve();
    this.#taken.set(record.key, true);
    if (this.#waiting.length >= this.#parts.maxWaiting || this.#end.signal.aborted) this.#lose(1);
    else this.#waiting.push(record);
    if (!this.#end.signal.aborted) this.#running ??= this.#run();
    return Promise.resolve();
  }

  /** Resolves when no record waits any longer, or when `signal` is aborted. */
  async flush(signal: AbortSignal): Promise<void> {
    const ended = Promise.withResolvers<undefined>();
    signal.addEventListener('abort', () => ended.resolve(undefined), { once: true });
    if (signal.aborted) return;
    await Promise.race([this.#running, ended.promise]);
  }

  /** Ends the pause and sends at once, because another sender has just reached the ledger. */
  retryNow(): void {
    if (this.#hurried || this.#pause === undefined) return;
    this.#hurried = true;
    this.#pause.abort();
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
    this.#lose(this.#waiting.length);
    this.#waiting.length = 0;
  }

  #lose(count: number): void {
    if (count === 0) return;
    this.#lost += count;
    const now = new Date(this.#parts.clock()).toISOString();
    this.#gap ??= { lost: 0, from: now, to: now };
    this.#gap.lost += count;
    this.#gap.to = now;
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0 || this.#gap !== undefined) {
      this.#closeGap();
      const batch = this.#waiting.slice(0, BATCH_RECORDS);
      const refused = await this.#attempt(batch);
      if (refused === undefined) {
        if (!(await this.#paused())) break;
        continue;
      }
      this.#waiting.splice(0, batch.length);
      this.#lose(refused);
      if (this.#end.signal.aborted) break;
    }
    this.#running = undefined;
  }

  /**
   * Puts the gap as a record in front of the waiting ones. Its key and count then stay the same for
   * each retry. Later losses make another gap, which waits until this one has arrived.
   */
  #closeGap(): void {
    if (this.#gap === undefined || this.#waiting[0]?.kind === 'gap') return;
    const { component, incarnation, clock, of } = this.#parts;
    const key = `${component.name}/gap/${incarnation}/${(this.#gaps += 1)}`;
    const at = new Date(clock()).toISOString();
    const only = of === undefined ? {} : { of };
    this.#waiting.unshift({ kind: 'gap', key, at, component, ...this.#gap, ...only });
    this.#gap = undefined;
  }

  /**
   * Returns the number of records that the ledger permanently refuses, or undefined if it did not
   * answer.
   */
  async #attempt(batch: readonly LedgerRecord[]): Promise<number | undefined> {
    try {
      const results = await this.#parts.send(batch);
      this.#failures = 0;
      this.#hurried = false;
      // Ignores a refused gap, which would only make another one.
      return results.filter((each, at) => each !== undefined && batch[at]?.kind !== 'gap').length;
    } catch {
      this.#failures += 1;
      return undefined;
    }
  }

  async #paused(): Promise<boolean> {
    const pause = FIRST_PAUSE_MILLISECONDS * 2 ** (this.#failures - 1);
    this.#pause = new AbortController();
    const signal = AbortSignal.any([this.#end.signal, this.#pause.signal]);
    try {
      await this.#parts.delay(Math.min(pause, LONGEST_PAUSE_MILLISECONDS), signal);
    } catch {
      // The process ends or the ledger is back.
    }
    this.#pause = undefined;
    return !this.#end.signal.aborted;
  }
}
