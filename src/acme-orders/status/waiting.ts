// SPDX-License-Identifier: Apache-2.0
import { conditionMessage } from '../../api/request/conditions.ts';
import { formatTime } from '../../api/object/time.ts';
import type { Waiting } from '../record.ts';

/** Bytes of a message: the CRDs allow as many characters. */
export const MAX_MESSAGE_BYTES = 4096;

/** What a status says of waiting, as text. */
export interface WaitingStatus {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly nextAttemptAt?: string | undefined;
  readonly failures?: number | undefined;
  readonly finalAt?: string | undefined;
}

export function waitingFromStatus(
  status: WaitingStatus,
): Waiting & { readonly finalAt: number | undefined } {
  const { reason, message, failures = 0 } = status;
  const nextAttemptAt = timeOf(status.nextAttemptAt);
  return { reason, message, failures, nextAttemptAt, finalAt: timeOf(status.finalAt) };
}

export function waitingToStatus(
  record: Waiting & { readonly finalAt?: number | undefined },
): WaitingStatus {
  const { reason, message, failures } = record;
  return {
    reason,
    message: message === undefined ? undefined : conditionMessage(message, MAX_MESSAGE_BYTES),
    nextAttemptAt: textOf(record.nextAttemptAt),
    failures: failures === 0 ? undefined : failures,
    finalAt: textOf(record.finalAt),
  };
}

export function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

/** Whole seconds, rounded up: what waits is never woken before the time that its status says. */
export function textOf(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : formatTime(Math.ceil(milliseconds / 1000) * 1000);
}

/** Without the members that are undefined: JSON has none. */
export function definedOnly<T extends object>(members: {
  readonly [Key in keyof T]: T[Key] | undefined;
}): T {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as T;
}
