// SPDX-License-Identifier: Apache-2.0
/** State of Orders and Challenges outside their statuses. All times are milliseconds since 1970. */
import type { AcmeOrder } from '../protocol/orders.ts';
import type { ChallengeState } from './status.ts';

/** State of an Order outside its status. A new process reads it from the server again. */
export interface OrderMemory {
  /** The server's order at the last reading. */
  readonly server?: ServerOrder | undefined;
  /** Consecutive answers that the order does not exist. */
  readonly notFound: number;
  /** Consecutive polls of a server that is busy with the order. */
  readonly polls: number;
  /** Whether the account was read since the last refusal, and is valid. */
  readonly accountIsValid: boolean;
  /** Consecutive limits. */
  readonly limits: number;
  /**
   * Call that failed and has not passed since. Its failures end when it passes, not when a reading
   * before its next attempt does. Undefined with failures: an earlier process made the call.
   */
  readonly failing?: OrderCallName | undefined;
  /** Whether the server has issued the certificate. It counts, also if it is never delivered. */
  readonly isIssued: boolean;
  /** Ends of the authorizations that this process has read, by URL. */
  readonly expiries: ReadonlyMap<string, number>;
}

/** A call of an Order to the server. */
export type OrderCallName =
  'newOrder' | 'readOrder' | 'readAccount' | 'readAuthorization' | 'finalize' | 'download';

/** An order of the server. */
export type ServerOrder = Pick<AcmeOrder, 'status' | 'authorizations' | 'finalize' | 'certificate'>;

/** Changes of an Order's memory before the next reading of the server's order. */
export const UNREAD = {
  server: undefined,
  notFound: 0,
  polls: 0,
  limits: 0,
  accountIsValid: false,
  failing: undefined,
} as const;

/** Memory of an Order in a new process. */
export const NO_ORDER_MEMORY: OrderMemory = { ...UNREAD, isIssued: false, expiries: new Map() };

/** State of a Challenge outside its status. A new process reads it from the server again. */
export interface ChallengeMemory {
  /** State of the authorization and of this challenge at the server. */
  readonly read?:
    { readonly authorization: ChallengeState; readonly challenge: string } | undefined;
  /** Whether the self-check passed since the last presentation. */
  readonly passed: boolean;
  /** Consecutive polls of a server that validates. */
  readonly polls: number;
  /** End of the authorization, from the server. */
  readonly expiresAt?: number | undefined;
  /** Start of the clean-up after the turn ended. */
  readonly yieldedAt?: number | undefined;
  /** Consecutive answers that the authorization does not exist. */
  readonly notFound: number;
  /** Consecutive limits. */
  readonly limits: number;
  /** The server took the acceptance. Some leave the challenge `pending` while they validate. */
  readonly accepted?: boolean;
  /** The acceptance failed, and has not passed since. */
  readonly acceptFails?: boolean;
}

/** Memory of a Challenge in a new process. */
export const NO_CHALLENGE_MEMORY: ChallengeMemory = {
  passed: false,
  notFound: 0,
  polls: 0,
  limits: 0,
};
