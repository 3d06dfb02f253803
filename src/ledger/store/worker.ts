// SPDX-License-Identifier: Apache-2.0
/** The thread that SQLite blocks. It serves the calls of worker-store.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf, SignerError } from '#base/errors.ts';
import { openSqlite } from '../database/sqlite.ts';
import type { LedgerStore } from './store.ts';
import { openStore } from './store.ts';

/** Start parameters of a worker. */
export interface WorkerOptions {
  /** Distinguishes this worker from others in the same bundle. */
  readonly room: 'ledger';
  /** Path of the database. */
  readonly path: string;
}

/** One call of a method of the store. */
export interface WorkerCall {
  readonly number: number;
  readonly method: keyof LedgerStore;
  readonly parameters: readonly unknown[];
}

/**
 * The members of an error that cross threads. Structured cloning keeps only the text of a class.
 */
export type SentError = Pick<SignerError, 'code' | 'disposition' | 'message'>;

/** The result of a call. */
export type WorkerAnswer =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly error: SentError };

/** Reports whether this thread was started as a ledger worker. */
export function isLedgerWorker(): boolean {
  const data: unknown = workerData;
  return typeof data === 'object' && data !== null && 'room' in data && data.room === 'ledger';
}

/** Serves calls until the store is closed. */
export function runLedgerWorker(): void {
  const port = parentPort;
  if (port === null) return;
  // The thread that started this one gave it.
  const { path } = workerData as WorkerOptions;
  const opening = Promise.resolve().then(() => openStore(openSqlite(path)));
  // Each call reports the failure.
  opening.catch(() => undefined);
  port.on('message', (call: WorkerCall) => {
    void answered(opening, call).then((answer) => {
      port.postMessage(answer);
      if (call.method === 'close') port.close();
    });
  });
}

async function answered(
  opening: Promise<LedgerStore>,
  { number, method, parameters }: WorkerCall,
): Promise<WorkerAnswer> {
  try {
    const store = await opening;
    const call: unknown = Reflect.get(store, method);
    if (typeof call !== 'function') throw new TypeError(`the store has no method ${method}`);
    const result: unknown = await Reflect.apply(call, store, [...parameters]);
    return { number, result: Array.isArray(result) ? result.map(sentItem) : result };
  } catch (error) {
    return { number, error: sentError(error) };
  }
}

/** Converts a SignerError among the results of an append. */
function sentItem(item: unknown): unknown {
  return item instanceof SignerError ? { error: sentError(item) } : item;
}

function sentError(error: unknown): SentError {
  if (error instanceof SignerError) {
    const { code, disposition, message } = error;
    return { code, disposition, message };
  }
  return { code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message: messageOf(error) };
}

if (isLedgerWorker()) runLedgerWorker();
