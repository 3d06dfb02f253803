// SPDX-License-Identifier: Apache-2.0
/**
 * Bounds what the callers of the API hold of the ledger: its searches, and the memory of answers
 * that their clients have not read.
 */
import { failure, type ApiAnswer } from './answer.ts';
import * as messages from '../messages.ts';

/** Requests of one caller at a time, and of all callers. */
const MAX_OF_CALLER = 16;
const MAX_REQUESTS = 128;
/** Bytes of the answers to one caller at a time, and to all. A page has some 8 MiB at most. */
const MAX_CALLER_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;
/**
 * Searches at a time. SQLite runs them in the only thread that reads, where proofs and checkpoints
 * wait behind them. PostgreSQL has four connections for all.
 */
const MAX_SEARCHES = 2;

/** The number of requests and the bytes of their answers. */
interface Use {
  requests: number;
  bytes: number;
}

/** Admits requests, and keeps count until each client has its answer. */
export class RequestLimits {
  readonly #all: Use = { requests: 0, bytes: 0 };
  readonly #byCaller = new Map<string, Use>();

  /**
   * Answers a request, or refuses it.
   * @param closed - resolves when the client has read the answer, or has left
   */
  async answer(
    caller: string,
    closed: Promise<void> | undefined,
    work: () => Promise<ApiAnswer>,
  ): Promise<ApiAnswer> {
    const own = this.#byCaller.get(caller) ?? { requests: 0, bytes: 0 };
    if (own.requests >= MAX_OF_CALLER) return failure(429, messages.tooManyRequests(caller));
    if (this.#all.requests >= MAX_REQUESTS) return failure(429, messages.TOO_MANY_REQUESTS);
    this.#byCaller.set(caller, own);
    let size = 0;
    const add = (requests: number, bytes: number): void => {
      for (const use of [own, this.#all]) {
        use.requests += requests;
        use.bytes += bytes;
      }
      if (own.requests === 0) this.#byCaller.delete(caller);
    };
    add(1, 0);
    try {
      const answer = await work();
      const bytes = Buffer.byteLength(answer.body);
      if (!hasRoom(own, bytes, MAX_CALLER_BYTES)) {
        return failure(429, messages.tooManyRequests(caller));
      }
      if (!hasRoom(this.#all, bytes, MAX_BYTES)) return failure(429, messages.TOO_MANY_REQUESTS);
      size = bytes;
      add(0, size);
      return answer;
    } finally {
      void (closed ?? Promise.resolve()).then(() => {
        add(-1, -size);
      });
    }
  }
}

/** One answer has room whatever its size, because a record may exceed the limit. */
function hasRoom({ bytes }: Use, size: number, limit: number): boolean {
  return bytes === 0 || bytes + size <= limit;
}

/** Runs a few searches at a time. The callers that wait take turns. */
export class SearchTurns {
  #running = 0;
  /** The searches that wait, by caller. The first caller is the next. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Runs a search when it is the caller's turn. */
  async take<T>(caller: string, search: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_SEARCHES) await this.#turnOf(caller);
    else this.#running += 1;
    try {
      return await search();
    } finally {
      this.#next();
    }
  }

  #turnOf(caller: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(caller, [...(this.#waiting.get(caller) ?? []), resolve]);
    });
  }

  /** Passes the turn to the next caller, who then waits behind all others. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [caller, [begin, ...rest]] = next;
    this.#waiting.delete(caller);
    if (rest.length > 0) this.#waiting.set(caller, rest);
    begin?.();
  }
}
