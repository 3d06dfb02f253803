// SPDX-License-Identifier: Apache-2.0
import { conditionMessage } from '../../api/request/conditions.ts';
import { messageOf } from '../../errors.ts';
import type { NotIssued } from '../../runtime/issuing/issuing-ca.ts';
import {
  IssuerError,
  PendingError,
  PermanentError,
  SetConditionError,
  type ConditionOf,
} from '../errors.ts';

/** What an author threw. */
export interface ClassifiedError extends Pick<NotIssued, 'how' | 'message' | 'afterMs'> {
  readonly condition?: ConditionOf;
  /** A permanent error is somewhere in it: of the issuer, where that is at fault. */
  readonly isPermanent: boolean;
}

/** Errors may wrap errors; a circle of them must end. */
const MAX_CAUSES = 16;
/** A CA that is at work may be asked ten times a second, and must be asked once a day. */
const MIN_PENDING_MS = 100;
const MAX_PENDING_MS = 86_400_000;
/** Bytes. A CA may answer with a page: what is kept, logged and written for each request is its beginning. */
export const MAX_MESSAGE = 1_024;
/** The API server refuses an Event with a longer reason (events.k8s.io/v1). */
const MAX_REASON = 128;
/** Others' words: types that Kubernetes, cert-manager or the loops themselves write. */
const RESERVED: ReadonlySet<string> = new Set([
  'Ready',
  'Approved',
  'Denied',
  'Failed',
  'Issued',
  'InvalidRequest',
]);
const CONDITION_TYPE = /^[A-Za-z]([-A-Za-z0-9_.]{0,314}[A-Za-z0-9])?$/;

/** The kind of an error: the outermost of the causes that has one decides. */
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
  const common = { message: cut(messageOf(thrown)), isPermanent, ...conditionOf(conditions[0]) };
  if (kind instanceof PendingError) return { ...common, how: 'pending', afterMs: bounded(kind) };
  if (kind instanceof IssuerError) return { ...common, how: 'issuer' };
  return { ...common, how: kind instanceof PermanentError ? 'permanent' : 'retry' };
}

/** What the API would refuse, or what would speak for somebody else, is left out. */
export function isUsable({ type }: ConditionOf): boolean {
  return CONDITION_TYPE.test(type) && !RESERVED.has(type);
}

function cut(message: string): string {
  return conditionMessage(message, MAX_MESSAGE);
}

function truncated({ type, status, reason, message }: ConditionOf): ConditionOf {
  return { type, status, reason: reason.slice(0, MAX_REASON), message: cut(message) };
}

function causesOf(thrown: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let each = thrown; each !== undefined && found.length < MAX_CAUSES;) {
    found.push(each);
    each = each instanceof Error ? each.cause : undefined;
  }
  return found;
}

function conditionOf(condition: ConditionOf | undefined): { readonly condition?: ConditionOf } {
  return condition === undefined ? {} : { condition };
}

function bounded({ afterMs }: PendingError): number {
  // A number that is none counts as the least.
  return afterMs >= MIN_PENDING_MS ? Math.min(afterMs, MAX_PENDING_MS) : MIN_PENDING_MS;
}
