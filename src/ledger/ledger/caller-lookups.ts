// SPDX-License-Identifier: Apache-2.0
/** Bounds the calls of the API server by which clients without any right are looked up. */
import { SignerError } from '#base/errors.ts';
import { Turns } from './turns.ts';
import * as messages from './messages.ts';

/** Lookups of unknown callers at a time. The client of the API server has 64 connections. */
const MAX_UNKNOWN = 16;
/** Lookups that wait for one address at most. A component sends its requests one by one. */
const MAX_WAITING_LOOKUPS = 16;

/** A client sends requests of more unknown callers than the ledger looks up for one address. */
export class TooManyLookupsError extends SignerError {
  constructor() {
    const message = messages.TOO_MANY_LOOKUPS;
    super({ code: 'LEDGER_UNAVAILABLE', disposition: 'retry', message });
  }
}

/** A caller to look up. */
interface LookupOf {
  /** Identifies the caller. Concurrent lookups of one caller share their result. */
  readonly key: string;
  /** Address of the client. */
  readonly address: string;
  /**
   * True if the caller was found before. Its lookup does not wait, so that requests of unknown
   * callers cannot delay it.
   */
  readonly isKnown: boolean;
}

/** Shares equal lookups, and runs few of unknown callers at a time. Addresses take turns. */
export class CallerLookups<T> {
  readonly #turns = new Turns(MAX_UNKNOWN);
  readonly #pending = new Map<string, Promise<T>>();

  /** @throws TooManyLookupsError, or the error of `lookUp` */
  async find({ key, address, isKnown }: LookupOf, lookUp: () => Promise<T>): Promise<T> {
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    if (!isKnown && this.#turns.waiting(address) >= MAX_WAITING_LOOKUPS)
      throw new TooManyLookupsError();
    const begun = isKnown ? lookUp() : this.#turns.take(address, lookUp);
    this.#pending.set(key, begun);
    try {
      return await begun;
    } finally {
      this.#pending.delete(key);
    }
  }
}
