// SPDX-License-Identifier: Apache-2.0
/**
 * The data that Orders and Challenges are decided from: what their statuses hold, and what this process has read of
 * the server's. All times are milliseconds since 1970.
 */

/** Types of challenges that we solve. */
export type ChallengeType = 'http-01' | 'dns-01' | 'dns-persist-01';

/** What a status says of waiting: until when, and why. */
export interface Waiting {
  /** Nothing is tried before. */
  readonly nextAttemptAt?: number | undefined;
  /** CamelCase, for programs. */
  readonly reason?: string | undefined;
  /** For people; what a server wrote in it is quoted. */
  readonly message?: string | undefined;
  /** Attempts in a row that came to nothing: the next wait is longer. */
  readonly failures: number;
}

/** When the next attempt is, if that is not now. */
export function waitsUntil({ nextAttemptAt }: Waiting, now: number): number | undefined {
  return nextAttemptAt !== undefined && now < nextAttemptAt ? nextAttemptAt : undefined;
}

/** `failed`: the request can never be answered; the others are the server's (RFC 8555 §7.1.6). */
export type OrderState = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid' | 'failed';

/** The status of an Order, as far as decisions need it. */
export interface OrderRecord extends Waiting {
  /** Of the server's order; absent until it is made. */
  readonly url?: string | undefined;
  readonly state?: OrderState | undefined;
  /** Whether the server refused to hear which certificate this one replaces. */
  readonly replacesRefused: boolean;
  /** What the server wants to be proved; absent until they were read. */
  readonly authorizations: readonly AuthorizationRecord[];
  /** URL of the certificate. */
  readonly certificate?: string | undefined;
  /** PEM, once downloaded. */
  readonly chain?: string | undefined;
  readonly finalAt?: number | undefined;
}

/** One name that is to be proved. */
export interface AuthorizationRecord {
  readonly url: string;
  readonly name: string;
  readonly wildcard: boolean;
  /** Whether it was proved before this Order: it needs no Challenge. */
  readonly wasValid: boolean;
  /** Challenges that the server offers. */
  readonly offered: readonly OfferedChallenge[];
}

/** A way to prove a name, as the server offers it. */
export interface OfferedChallenge {
  readonly type: string;
  readonly url: string;
  /** Absent where the type has none. */
  readonly token?: string | undefined;
}

/** What this process knows of an Order beside its status. Lost with the process: then the server is asked again. */
export interface OrderMemory {
  /** The server's order as it was read last. */
  readonly server?: ServerOrder | undefined;
  /** Answers in a row that said there is none. */
  readonly notFound: number;
  /** Looks in a row at a server that is busy with it. */
  readonly polls: number;
  /** Whether the account was read since the last refusal, and is valid. */
  readonly accountIsValid: boolean;
}

/** An order of the server. */
export interface ServerOrder {
  readonly status: Exclude<OrderState, 'failed'>;
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate?: string | undefined;
}

/** What a new process knows of an Order. */
export const NO_ORDER_MEMORY: OrderMemory = { notFound: 0, polls: 0, accountIsValid: false };

export type ChallengeState =
  'pending' | 'processing' | 'valid' | 'invalid' | 'expired' | 'revoked' | 'deactivated';

/** The status of a Challenge. */
export interface ChallengeRecord extends Waiting {
  /** Whether it has a slot. */
  readonly processing: boolean;
  /** Whether the record or file is there. */
  readonly presented: boolean;
  readonly presentedAt?: number | undefined;
  readonly state?: ChallengeState | undefined;
  readonly finalAt?: number | undefined;
}

/** What this process knows of a Challenge beside its status. Lost with the process: then it is asked again. */
export interface ChallengeMemory {
  /** The server's word on the authorization, and on this challenge of it. */
  readonly read?:
    { readonly authorization: ChallengeState; readonly challenge: string } | undefined;
  /** Whether the self-check passed since the last time it was presented. */
  readonly passed: boolean;
  /** Looks in a row at a server that validates. */
  readonly polls: number;
  /** Answers in a row that said there is no such authorization. */
  readonly notFound: number;
}

/** The reason of an Order that waits until its account was read: the refusal can have been the account's. */
export const UNAUTHORIZED = 'Unauthorized';

const FINAL_CHALLENGES: readonly (ChallengeState | undefined)[] = [
  'valid',
  'invalid',
  'expired',
  'revoked',
  'deactivated',
];

/** A state that no server leaves again (RFC 8555 §7.1.6), as far as an Order is concerned. */
export function isFinalChallenge(state: ChallengeState | undefined): boolean {
  return FINAL_CHALLENGES.includes(state);
}

/** Whether an Order has its certificate, or never gets it. */
export function isFinalOrder({ state, chain }: Pick<OrderRecord, 'state' | 'chain'>): boolean {
  return state === 'failed' || state === 'invalid' || (state === 'valid' && chain !== undefined);
}
