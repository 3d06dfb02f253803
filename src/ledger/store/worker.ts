// SPDX-License-Identifier: Apache-2.0
/** The thread that SQLite blocks: it answers the calls of worker-store.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf, SignerError } from '../../errors.ts';
import { openSqlite } from '../database/sqlite.ts';
import type { LedgerStore } from './store.ts';
import { openStore } from './store.ts';

/** What a worker is started with. */
export interface WorkerOptions {
  /** Tells this worker from others that the same file may be started as. */
  readonly room: 'ledger';
  /** Of the database. */
  readonly path: string;
}

/** One call of a method of the store. */
export interface WorkerCall {
  readonly number: number;
  readonly method: keyof LedgerStore;
  readonly parameters: readonly unknown[];
}

/** How an error goes from thread to thread: of its class only the text would. */
export type SentError = Pick<SignerError, 'code' | 'disposition' | 'message'>;

/** The answer to a call. */
export type WorkerAnswer =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly error: SentError };

/** Whether this thread was started as such a worker. */
export function isLedgerWorker(): boolean {
  return (workerData as Partial<WorkerOptions> | null)?.room === 'ledger';
}

/** Answers calls until the store is closed. */
export function runLedgerWorker(): void {
  const port = parentPort;
  if (port === null) return;
  const { path } = workerData as WorkerOptions;
  const opening = Promise.resolve().then(() => openStore(openSqlite(path)));
  // Each call sees the failure.
  opening.catch(() => undefined);
  port.on('message', (call: WorkerCall) => {
    void answered(opening, call).then((answer) => {
      port.postMessage(answer);
      if (call.method === 'close') port.close();
    });
  });
}

type Method = (...parameters: readonly unknown[]) => Promise<unknown>;

async function answered(
  opening: Promise<LedgerStore>,
  { number, method, parameters }: WorkerCall,
): Promise<WorkerAnswer> {
  try {
    const store = await opening;
    const methods = store as unknown as Readonly<Record<string, Method>>;
    const result = await methods[method]?.(...parameters);
    return { number, result: method === 'append' ? (result as unknown[]).map(sentItem) : result };
  } catch (error) {
    return { number, error: sentError(error) };
  }
}

/** A SignerError among the results of an append. */
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
