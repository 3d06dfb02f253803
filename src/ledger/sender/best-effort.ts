// SPDX-License-Identifier: Apache-2.0
/** The mode `best-effort`: records wait in bounded memory, and what does not fit is counted. */
import { BoundedMap } from '../../bounded-map.ts';
import type { Clock, Delay } from '../../ports.ts';
import type { LedgerRecord } from '../records/record.ts';
import { BATCH_RECORDS } from './contract.ts';
import type { LedgerSender, SendBatch, SenderState } from './contract.ts';

/** What it needs from the outside. */
export interface BestEffortParts {
  readonly send: SendBatch;
  readonly delay: Delay;
  readonly clock: Clock;
  readonly component: LedgerRecord['component'];
  /** Names this process: the keys of its gaps begin with it. */
  readonly incarnation: string;
  /** Records that wait at most. One has 2 to 4 KiB, with the certificate twice that. */
  readonly mostWaiting: number;
  /** Where it has results only: its gaps say so. */
  readonly of?: 'results';
}

/**
 * Keys that are remembered, for each record that may wait: who cannot write an answer to the API server makes its record
 * again, within seconds. A key has some hundred bytes.
 */
const REMEMBERED = 5;

/** The first pause after a failure; each next one is twice as long. */
const FIRST_PAUSE_MILLISECONDS = 500;
const LONGEST_PAUSE_MILLISECONDS = 30_000;

/** Records that were lost one after the other. */
interface Gap {
  lost: number;
  readonly from: string;
  to: string;
}

/** Certificates do not wait. See {@link LedgerSender}. */
export class BestEffortSender implements LedgerSender {
  readonly #parts: BestEffortParts;
  readonly #waiting: LedgerRecord[] = [];
  /** Taken before, whatever became of it: neither kept nor lost again. */
  readonly #taken: BoundedMap<string, true>;
  readonly #end = new AbortController();
  #gap: Gap | undefined;
  #gaps = 0;
  #lost = 0;
  #failures = 0;
  #running: Promise<void> | undefined;

  constructor(parts: BestEffortParts) {
    this.#parts = parts;
    this.#taken = new BoundedMap(parts.mostWaiting * REMEMBERED);
  }

  get state(): SenderState {
    const [waiting, failing] = [this.#waiting.length, this.#failures > 0];
    return { mode: 'best-effort', waiting, lost: this.#lost, failing };
  }

  append(record: LedgerRecord): Promise<void> {
    if (this.#taken.get(record.key) === true) return Promise.resolve();
    this.#taken.set(record.key, true);
    if (this.#waiting.length >= this.#parts.mostWaiting || this.#end.signal.aborted) this.#lose(1);
    else this.#waiting.push(record);
    if (!this.#end.signal.aborted) this.#running ??= this.#run();
    return Promise.resolve();
  }

  /** Resolves when nothing waits any longer, or when `signal` is aborted. */
  async flush(signal: AbortSignal): Promise<void> {
    const ended = Promise.withResolvers<undefined>();
    signal.addEventListener('abort', () => ended.resolve(undefined), { once: true });
    if (signal.aborted) return;
    await Promise.race([this.#running, ended.promise]);
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
   * The gap becomes a record, in front of what waits: from then on it has its key and its count, however often it is
   * sent. What is lost later is another gap, which waits until this one has arrived.
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

  /** How many records of the batch the ledger refuses for good; nothing if it did not answer. */
  async #attempt(batch: readonly LedgerRecord[]): Promise<number | undefined> {
    try {
      const results = await this.#parts.send(batch);
      this.#failures = 0;
      // A refused gap would only make another one.
      return results.filter((each, at) => each !== undefined && batch[at]?.kind !== 'gap').length;
    } catch {
      this.#failures += 1;
      return undefined;
    }
  }

  async #paused(): Promise<boolean> {
    const pause = FIRST_PAUSE_MILLISECONDS * 2 ** (this.#failures - 1);
    try {
      await this.#parts.delay(Math.min(pause, LONGEST_PAUSE_MILLISECONDS), this.#end.signal);
      return true;
    } catch {
      return false;
    }
  }
}
