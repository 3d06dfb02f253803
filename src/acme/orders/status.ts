// SPDX-License-Identifier: Apache-2.0
/**
 * Statuses of Orders and Challenges, which decisions read and answers change. In memory their times
 * have milliseconds. `toWrite` rounds them.
 */
import type { ChallengeObjectStatus, ChallengeSpec } from '#api/acme/challenge.ts';
import type { OrderObjectStatus } from '#api/acme/order.ts';
import { conditionMessage } from '#api/request/conditions.ts';
import { formatTime, parseTime } from '#api/object/time.ts';

/** Challenge types that this program solves. */
export type ChallengeType = ChallengeSpec['type'];
export type ChallengeState = NonNullable<ChallengeObjectStatus['state']>;
/** A name to prove, in the status of an Order. */
export type OrderAuthorization = NonNullable<OrderObjectStatus['authorizations']>[number];
/** A way to prove a name, as the server offers it. */
export type OfferedChallenge = NonNullable<OrderAuthorization['offered']>[number];

/** Reason of an Order that waits for a waiting Challenge. */
export const WAITING_FOR_CHALLENGE = 'WaitingForChallenge';

/** Reason of a Challenge that waits for its turn. */
export const WAITING_FOR_TURN = 'WaitingForTurn';

/**
 * Reason of an Order that waits for a reading of its account: the refusal may concern the account.
 */
export const UNAUTHORIZED = 'Unauthorized';

/** Changes of a status that end its wait. */
export const NOT_WAITING = {
  failures: undefined,
  reason: undefined,
  message: undefined,
  nextAttemptAt: undefined,
} as const;

/** Returns the status with these members changed. `undefined` removes a member. */
export function changed<T extends object>(
  status: T,
  changes: { readonly [Key in keyof T]?: T[Key] | undefined },
): T {
  const members = Object.entries({ ...status, ...changes });
  // JSON has no undefined members, and neither has the type.
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as T;
}

/** Returns a time of a status in milliseconds since 1970. Undefined for an absent one. */
export function timeOf(text: string): number;
export function timeOf(text: string | undefined): number | undefined;
export function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTime(text);
}

/** Returns a time for a status, to the millisecond. Undefined for an absent one. */
export function timeText(milliseconds: number): string;
export function timeText(milliseconds: number | undefined): string | undefined;
export function timeText(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}

/** Returns the time of the next attempt, or undefined if it can start now. */
export function waitsUntil(
  { nextAttemptAt }: { readonly nextAttemptAt?: string },
  now: number,
): number | undefined {
  const at = timeOf(nextAttemptAt);
  return at !== undefined && now < at ? at : undefined;
}

const FINAL_CHALLENGES: readonly (ChallengeState | undefined)[] = [
  'valid',
  'invalid',
  'expired',
  'revoked',
  'deactivated',
];

/**
 * Reports whether a server never leaves the state again (RFC 8555 §7.1.6), as far as an Order is
 * concerned.
 */
export function isFinalChallenge(state: ChallengeState | undefined): boolean {
  return FINAL_CHALLENGES.includes(state);
}

/** Reports whether an Order has its certificate, or never gets it. */
export function isFinalOrder({
  state,
  certificate,
}: Pick<OrderObjectStatus, 'state' | 'certificate'>): boolean {
  return (
    state === 'failed' || state === 'invalid' || (state === 'valid' && certificate !== undefined)
  );
}

/** Limit on a message in bytes. The CRDs allow as many characters. */
const MAX_MESSAGE_BYTES = 4096;
const TIMES: readonly string[] = ['nextAttemptAt', 'finalAt', 'presentedAt'];

/**
 * Returns the status as it is written: messages within the limit of the CRDs, times in whole
 * seconds. It rounds up, so that no object wakes before the time in its status.
 */
export function toWrite<T extends object>(status: T): T {
  const members = Object.entries(status).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'string') return [name, value];
    if (name === 'message') return [name, conditionMessage(value, MAX_MESSAGE_BYTES)];
    return [name, TIMES.includes(name) ? wholeSeconds(timeOf(value)) : value];
  });
  // Each changed member stays a text.
  return Object.fromEntries(members) as T;
}

/** Rounds up to whole seconds. */
export function wholeSeconds(milliseconds: number): string {
  return formatTime(Math.ceil(milliseconds / 1000) * 1000);
}
