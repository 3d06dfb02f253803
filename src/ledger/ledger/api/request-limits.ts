// SPDX-License-Identifier: Apache-2.0
/**
 * Bounds what the callers of the API hold of the ledger: requests, and the memory of answers that
 * their clients have not read.
 */
import { failure, type ApiAnswer } from './answer.ts';
import * as messages from '../messages.ts';

/** Requests of one caller at a time, and of all callers. */
const MAX_OF_CALLER = 16;
const MAX_LONG_REQUESTS = 128;
/** Bytes of the answers to one caller at a time, and to all. A page has some 8 MiB at most. */
const MAX_CALLER_UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
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
    if (this.#all.requests >= MAX_LONG_REQUESTS) return failure(429, messages.TOO_MANY_REQUESTS);
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
      if (!hasRoom(own, bytes, MAX_CALLER_UNREAD_BYTES)) {
        return failure(429, messages.tooManyRequests(caller));
      }
      if (!hasRoom(this.#all, bytes, MAX_UNREAD_BYTES))
        return failure(429, messages.TOO_MANY_REQUESTS);
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
