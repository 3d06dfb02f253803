// SPDX-License-Identifier: Apache-2.0
import { conditionMessage } from '#api/request/conditions.ts';
import { messageOf } from '#base/errors.ts';
import { printable } from '#base/quote.ts';
import type { NotIssued } from '#requests/issuing/issuing-ca.ts';
import {
  IssuerError,
  PendingError,
  PermanentError,
  SetConditionError,
  type ConditionOf,
} from '../errors.ts';
import * as messages from '../messages.ts';

/** Meaning of an author's error for the request and its issuer. */
export interface ClassifiedError extends Pick<NotIssued, 'how' | 'message' | 'afterMs'> {
  readonly condition?: ConditionOf;
  /** Whether a PermanentError is among its causes. An issuer with such an error has failed. */
  readonly isPermanent: boolean;
}

/** Limit on followed causes, which ends a cycle. */
const MAX_CAUSES = 16;
/**
 * Limits of `afterMs`: a pending request is retried at most ten times a second and at least once a
 * day.
 */
const MIN_PENDING_MS = 100;
const MAX_PENDING_MS = 86_400_000;
/** Limit in bytes on an error message. A CA may answer with a whole page. */
const MAX_ERROR_MESSAGE = 1_024;
/** Limit in characters. The API server rejects an Event with a longer reason (events.k8s.io/v1). */
const MAX_CONDITION_REASON = 128;
/** Reserved condition types: Kubernetes, cert-manager, or our controllers write them. */
const RESERVED_TYPES: ReadonlySet<string> = new Set([
  'Ready',
  'Approved',
  'Denied',
  'Failed',
  'Issued',
  'InvalidRequest',
]);
/** Statuses that the API server accepts. An author without types may use others. */
const STATUSES: ReadonlySet<string> = new Set(['True', 'False', 'Unknown']);
const CONDITION_TYPE = /^[A-Za-z]([-A-Za-z0-9_.]{0,314}[A-Za-z0-9])?$/;

/**
 * Classifies an author's error. The outermost error of a known class decides. All others are
 * retried.
 */
export function classifyError(thrown: unknown): ClassifiedError {
  const errors = causesOf(thrown);
  const kind = errors.find(
    (each) =>
      each instanceof PermanentError || each instanceof IssuerError || each instanceof PendingError,
  );
  const conditions = errors.flatMap((each) =>
    each instanceof SetConditionError && isUsable(each.condition)
      ? [truncated(each.condition)]
      : [],
  );
  const isPermanent = errors.some((each) => each instanceof PermanentError);
  const common = { message: cut(textOf(errors)), isPermanent, ...conditionOf(conditions[0]) };
  if (kind instanceof PendingError) return { ...common, how: 'pending', afterMs: bounded(kind) };
  if (kind instanceof IssuerError) return { ...common, how: 'issuer' };
  return { ...common, how: kind instanceof PermanentError ? 'permanent' : 'retry' };
}

/**
 * Reports whether the API server would accept type and status, and the type is not reserved. Other
 * conditions are dropped.
 */
function isUsable({ type, status }: ConditionOf): boolean {
  return CONDITION_TYPE.test(type) && !RESERVED_TYPES.has(type) && STATUSES.has(status);
}

/** Returns the first message of an error and its causes, or what else identifies the error. */
function textOf(errors: readonly unknown[]): string {
  const text = errors.flatMap(messagesOf).find((each) => each !== '');
  return text ?? identityOf(errors[0]);
}

/** Node's error of a refused connection to several addresses has its messages in its parts. */
function messagesOf(thrown: unknown): readonly string[] {
  const parts: readonly unknown[] = thrown instanceof AggregateError ? thrown.errors : [];
  return [thrown, ...parts.slice(0, 1)].map((each) => attemptMessage(each));
}

/** Returns '' for a value that has no text, such as an object without a prototype. */
function attemptMessage(thrown: unknown): string {
  try {
    return messageOf(thrown);
  } catch {
    return '';
  }
}

function identityOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return messages.ERROR_WITHOUT_MESSAGE;
  return 'code' in thrown ? `${thrown.name} ${String(thrown.code)}` : thrown.name;
}

function cut(message: string): string {
  return conditionMessage(message, MAX_ERROR_MESSAGE);
}

function truncated({ type, status, reason, message }: ConditionOf): ConditionOf {
  return {
    type,
    status,
    reason: printable(reason).slice(0, MAX_CONDITION_REASON).toWellFormed(),
    message: cut(message),
  };
}

function causesOf(thrown: unknown): readonly unknown[] {
  const found: unknown[] = [thrown];
  for (let each = causeOf(thrown); each !== undefined && found.length < MAX_CAUSES;) {
    found.push(each);
    each = causeOf(each);
  }
  return found;
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? thrown.cause : undefined;
}

function conditionOf(condition: ConditionOf | undefined): { readonly condition?: ConditionOf } {
  return condition === undefined ? {} : { condition };
}

function bounded({ afterMs }: PendingError): number {
  // NaN compares false and becomes the minimum.
  return afterMs >= MIN_PENDING_MS ? Math.min(afterMs, MAX_PENDING_MS) : MIN_PENDING_MS;
}
