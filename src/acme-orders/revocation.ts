// SPDX-License-Identifier: Apache-2.0
import type { Answer } from '../acme/answer.ts';
import { REVOCATION_CODES, type RevocationReasonName } from '../api/acme/index.ts';
import { quote } from '../quote.ts';
import { waitsUntil, type Waiting } from './record.ts';
import { judge } from './verdict.ts';

/** How far the revocation of an Order's certificate is. Milliseconds since 1970. */
export interface RevocationRecord extends Waiting {
  /** Absent where what was asked for is no reason. */
  readonly asked?: RevocationReasonName | undefined;
  /** `refused`: asking again changes nothing, unless for another reason. */
  readonly state: 'pending' | 'revoked' | 'refused';
  readonly finalAt?: number | undefined;
}

/** Everything that the next step of a revocation depends on. */
export interface RevocationView {
  readonly record: RevocationRecord | undefined;
  /** The annotation; empty is none, as for the policy that guards it. */
  readonly wish: string | undefined;
  /** End of the certificate. Milliseconds since 1970. */
  readonly notAfter: number;
}

/** What is to be done for a revocation now. */
export type RevocationStep =
  | { readonly step: 'revoke'; readonly asked: RevocationReasonName }
  | { readonly step: 'wait'; readonly until: number }
  /** Nothing is called: the status has this record. */
  | { readonly step: 'note'; readonly record: RevocationRecord | undefined };

const NOTHING = { failures: 0, nextAttemptAt: undefined } as const;

/**
 * The next step of a revocation (RFC 8555 §7.6). A revoked certificate stays one, whatever is wished later.
 *
 * @param now - milliseconds since 1970
 */
export function nextRevocationStep(
  { record, wish, notAfter }: RevocationView,
  now: number,
): RevocationStep {
  if (record?.state === 'revoked') return { step: 'note', record };
  if (isNone(wish)) return { step: 'note', record: undefined };
  if (!isReason(wish)) return { step: 'note', record: unknownReason(wish) };
  const before = record?.asked === wish ? record : undefined;
  if (before?.state === 'refused') return { step: 'note', record: before };
  return notAfter <= now
    ? { step: 'note', record: expired(wish, now) }
    : askStep(wish, before, now);
}

function isNone(wish: string | undefined): wish is '' | undefined {
  return wish === undefined || wish === '';
}

function askStep(
  asked: RevocationReasonName,
  before: RevocationRecord | undefined,
  now: number,
): RevocationStep {
  const until = before === undefined ? undefined : waitsUntil(before, now);
  return until === undefined ? { step: 'revoke', asked } : { step: 'wait', until };
}

function unknownReason(wish: string): RevocationRecord {
  const known = Object.keys(REVOCATION_CODES).join(', ');
  const message = `${quote(wish)} is no reason for a revocation; set the annotation to one of ${known}`;
  return refused({ reason: 'ReasonUnknown', message });
}

function expired(asked: RevocationReasonName, now: number): RevocationRecord {
  const message = 'the certificate has expired: nobody accepts it any more';
  return refused({ reason: 'Expired', message, asked }, now);
}

function isReason(wish: string): wish is RevocationReasonName {
  return Object.hasOwn(REVOCATION_CODES, wish);
}

/** The code of a reason (RFC 5280 §5.3.1). */
export function codeOfReason(
  asked: RevocationReasonName,
): (typeof REVOCATION_CODES)[RevocationReasonName] {
  return REVOCATION_CODES[asked];
}

function refused(
  why: Pick<RevocationRecord, 'reason' | 'message' | 'asked'>,
  finalAt?: number,
): RevocationRecord {
  return { ...NOTHING, ...why, state: 'refused', finalAt };
}

/** A revocation before an answer, and when that came. */
export interface RevocationBefore {
  readonly record: RevocationRecord | undefined;
  readonly asked: RevocationReasonName;
  /** Of the Order. */
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * After the CA was asked. That it is revoked already is what was wanted: the answer to an earlier call was lost, or
 * somebody else was faster. Whatever is refused or limited holds the revocation alone, and no Order.
 */
export function afterRevocation(before: RevocationBefore, answer: Answer<null>): RevocationRecord {
  const { asked, uid, now } = before;
  if (answer.kind === 'ok' || (answer.kind === 'problem' && answer.type === 'alreadyRevoked'))
    return { ...NOTHING, asked, state: 'revoked', finalAt: now };
  const failures = failuresOf(before) + 1;
  // As after a reading: nothing of the Order is made anew for it, and no refusal of one moment is the last word.
  const verdict = judge(answer, {
    ...{ attempted: 'read', failures, notFound: 0, uid, replaces: false, accountIsValid: true },
  });
  if (!('message' in verdict)) throw new Error('a revocation has nothing that it replaces');
  const { reason, message } = verdict;
  if (isFinal(answer) || !('afterMs' in verdict)) return refused({ reason, message, asked }, now);
  const nextAttemptAt = now + verdict.afterMs;
  return { asked, state: 'pending', failures, reason, message, nextAttemptAt };
}

/** The CA never revokes for this reason (RFC 8555 §7.6). */
function isFinal(answer: Exclude<Answer<null>, { readonly kind: 'ok' }>): boolean {
  return answer.kind === 'problem' && answer.type === 'badRevocationReason';
}

function failuresOf({ record, asked }: Pick<RevocationBefore, 'record' | 'asked'>): number {
  return record?.asked === asked ? record.failures : 0;
}

/** Why the CA is not asked now. */
export function heldRevocation(
  { record, asked }: Pick<RevocationBefore, 'record' | 'asked'>,
  why: {
    readonly reason: string;
    readonly message: string;
    readonly until?: number | undefined;
  },
): RevocationRecord {
  const { reason, message, until: nextAttemptAt } = why;
  const failures = failuresOf({ record, asked });
  return { asked, state: 'pending', failures, reason, message, nextAttemptAt };
}
