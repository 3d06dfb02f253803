// SPDX-License-Identifier: Apache-2.0
/**
 * A store in its own threads. SQLite blocks its thread, and a long search must not delay an append.
 */
import { Worker } from 'node:worker_threads';
import { LEDGER_THREAD } from './thread-argument.ts';
import { SignerError } from '#base/errors.ts';
import { unavailable } from '../database/database.ts';
import type { AppendResult } from './append.ts';
import type { LedgerStore } from './store.ts';
import type { SentError, WorkerAnswer, WorkerCall, WorkerOptions } from './worker.ts';

/**
 * Opens a ledger in a SQLite file, in two threads: one that writes and one that reads.
 * @param path - of the database, on a disk of this machine
 * @param entry - the file to start as a worker: worker.ts, or a bundle that contains it
 */
export async function openWorkerStore(path: string, entry: URL): Promise<LedgerStore> {
  const writer = new Thread(path, entry);
  // The writer creates the schema before the reader uses it.
  await writer.call('logs', []).catch(async (error: unknown) => {
    await writer.end();
    throw error;
  });
  const reader = new Thread(path, entry);
  const write =
    (method: keyof LedgerStore) =>
    (...parameters: readonly unknown[]): Promise<never> =>
      writer.call(method, parameters);
  const read =
    (method: keyof LedgerStore) =>
    (...parameters: readonly unknown[]): Promise<never> =>
      reader.call(method, parameters);
  return {
    append: async (batch, context) =>
      (await writer.call<readonly SentItem[]>('append', [batch, context])).map(receivedItem),
    keepCheckpoint: write('keepCheckpoint'),
    cosign: write('cosign'),
    erase: write('erase'),
    thin: write('thin'),
    scrub: write('scrub'),
    removal: read('removal'),
    unsignedHeads: read('unsignedHeads'),
    compareWith: read('compareWith'),
    logs: read('logs'),
    checkpoint: read('checkpoint'),
    tile: read('tile'),
    find: read('find'),
    recorded: read('recorded'),
    results: read('results'),
    checkpoints: read('checkpoints'),
    get: read('get'),
    after: read('after'),
    prove: read('prove'),
    verify: read('verify'),
    close: async () => {
      await Promise.all([reader.end(), writer.end()]);
    },
  };
}

type SentItem = Exclude<AppendResult, SignerError> | { readonly error: SentError };

function receivedItem(item: SentItem): AppendResult {
  return 'error' in item ? new SignerError(item.error) : item;
}

/** One worker and its pending calls. */
class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;
  #ended: SignerError | undefined;

  constructor(path: string, entry: URL) {
    const workerData: WorkerOptions = { room: 'ledger', path };
    this.#worker = new Worker(entry, { workerData, argv: [LEDGER_THREAD] });
    this.#worker.on('message', (answer: WorkerAnswer) => this.#take(answer));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end());
  }

  call<T>(method: keyof LedgerStore, parameters: readonly unknown[]): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const number = (this.#calls += 1);
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(number, waiting);
    const call: WorkerCall = { number, method, parameters };
    this.#worker.postMessage(call);
    // The worker answers with what the method returns.
    return waiting.promise as Promise<T>;
  }

  /** Closes the database if it is open, and ends the thread. */
  async end(): Promise<void> {
    if (this.#ended === undefined) await this.call('close', []).catch(() => undefined);
    await this.#worker.terminate();
  }

  #take(answer: WorkerAnswer): void {
    const waiting = this.#waiting.get(answer.number);
    this.#waiting.delete(answer.number);
    if ('error' in answer) waiting?.reject(new SignerError(answer.error));
    else waiting?.resolve(answer.result);
  }

  #end(error?: unknown): void {
    this.#ended ??= unavailable('its thread has ended', error);
    for (const each of this.#waiting.values()) each.reject(this.#ended);
    this.#waiting.clear();
  }
}
