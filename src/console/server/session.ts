// SPDX-License-Identifier: Apache-2.0
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Monotonic, Random } from '#base/ports.ts';

/** The session of a request: none if its browser opened none. */
export type ConsoleAccess = 'open' | 'none' | 'ended';

/** The dependencies of a {@link ConsoleSession}. */
export interface SessionInit {
  readonly random: Random;
  readonly monotonic: Monotonic;
}

/** Bytes of a secret: no search finds 256 bits. */
const SECRET_BYTES = 32;
/** Time in which the printed address must be opened. */
const OPEN_WITHIN_MS = 10 * 60_000;
/** Time without a page after which the session ends. An open stream does not prolong it. */
const UNUSED_MS = 60 * 60_000;
/** Time after which the session ends, used or not: a working day. */
const SESSION_MS = 12 * 60 * 60_000;

/**
 * The one session of a console. A secret opens it once, and a token in a cookie continues it. A
 * person who needs another one starts the command again, so memory of sessions is bounded by one.
 */
export class ConsoleSession {
  /** The one-time secret of the printed address. */
  readonly secret: string;
  /**
   * Random first part of every path. Cookies have a path and no port: the browser sends the cookie
   * to no other server of this machine, because none knows the path.
   */
  readonly prefix: string;
  readonly #token: string;
  readonly #monotonic: Monotonic;
  readonly #createdAt: number;
  #openedAt: number | undefined;
  #usedAt = 0;

  constructor({ random, monotonic }: SessionInit) {
    const word = (): string => Buffer.from(random(SECRET_BYTES)).toString('base64url');
    this.secret = word();
    this.prefix = word();
    this.#token = word();
    this.#monotonic = monotonic;
    this.#createdAt = monotonic();
  }

  /**
   * Exchanges the secret for the token of the cookie.
   *
   * @returns undefined for a wrong, used or old secret
   */
  open(secret: string): string | undefined {
    const now = this.#monotonic();
    if (this.#openedAt !== undefined || now - this.#createdAt > OPEN_WITHIN_MS) return undefined;
    if (!isSame(secret, this.secret)) return undefined;
    this.#openedAt = now;
    this.#usedAt = now;
    return this.#token;
  }

  /**
   * Judges the token of a request.
   *
   * @param isUse - true for a page, which a person reads, and false for a stream
   */
  judge(token: string | undefined, isUse: boolean): ConsoleAccess {
    if (token === undefined || !isSame(token, this.#token)) return 'none';
    if (this.hasEnded) return 'ended';
    if (isUse) this.#usedAt = this.#monotonic();
    return 'open';
  }

  /** True once no request can be answered any more: the console may exit. */
  get hasEnded(): boolean {
    const now = this.#monotonic();
    if (this.#openedAt === undefined) return now - this.#createdAt > OPEN_WITHIN_MS;
    return now - this.#usedAt > UNUSED_MS || now - this.#openedAt > SESSION_MS;
  }
}

/** Compares in a time that does not depend on the texts. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
