// SPDX-License-Identifier: Apache-2.0
/**
 * Bounds what the callers of the API hold of the ledger: requests, and the memory of answers that
 * their clients have not read.
 */
import { failure, type ApiAnswer } from './answer.ts';
import * as messages from '../messages.ts';

/** Requests of one caller at a time, and of all callers of a kind. */
const MAX_OF_CALLER = 16;
const MAX_LONG_REQUESTS = 128;
/**
 * Bytes of the answers to one caller at a time, and to all callers of a kind. A page has some 8 MiB
 * at most.
 *
 * The Deployment has 640 MiB. At worst answers take 256 MiB: 64 to users and 64 to components, each
 * as text and as encrypted bytes. Batches take 64 MiB (`ledger-server.ts`), and two searches some
 * 50 MiB: rows, objects and JSON of a page. 270 MiB remain for the process itself.
 */
const MAX_CALLER_UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** A caller in the limits and in the turns of searches. */
export interface CallerAccount {
  readonly name: string;
  /** Components have limits of their own, so that users never keep them from reading. */
  readonly kind: 'user' | 'component';
}

/** Namespace of a ServiceAccount's username. */
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):/;

/**
 * Returns the account of a user: its username. The ServiceAccounts of a namespace are one account,
 * because a tenant can create any number of them. Those beside the components are apart, because
 * only administrators create them.
 * @param namespace - namespace of the components
 */
export function accountOfUser(username: string, namespace: string): CallerAccount {
  const [prefix, own] = SERVICE_ACCOUNT.exec(username) ?? [];
  const isTenant = prefix !== undefined && own !== namespace;
  return { kind: 'user', name: isTenant ? `${prefix}*` : username };
}

/** The number of requests and the bytes of their answers. */
interface Use {
  requests: number;
  bytes: number;
}

/** Admits requests, and keeps count until each client has its answer. */
export class RequestLimits {
  readonly #all: Readonly<Record<CallerAccount['kind'], Use>> = {
    user: { requests: 0, bytes: 0 },
    component: { requests: 0, bytes: 0 },
  };
  readonly #byCaller = new Map<string, Use>();

  /**
   * Answers a request, or refuses it.
   * @param closed - resolves when the client has read the answer, or has left
   */
  async answer(
    { name: caller, kind }: CallerAccount,
    closed: Promise<void> | undefined,
    work: () => Promise<ApiAnswer>,
  ): Promise<ApiAnswer> {
    const all = this.#all[kind];
    const own = this.#byCaller.get(caller) ?? { requests: 0, bytes: 0 };
    if (own.requests >= MAX_OF_CALLER) return failure(429, messages.tooManyRequests(caller));
    if (all.requests >= MAX_LONG_REQUESTS) return failure(429, messages.TOO_MANY_REQUESTS);
    this.#byCaller.set(caller, own);
    let size = 0;
    const add = (requests: number, bytes: number): void => {
      for (const use of [own, all]) {
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
      if (!hasRoom(all, bytes, MAX_UNREAD_BYTES)) {
        return failure(429, messages.TOO_MANY_REQUESTS);
      }
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
