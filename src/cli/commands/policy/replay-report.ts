// SPDX-License-Identifier: Apache-2.0
/** Compares recorded decisions with those of other rules. This module has no side effects. */
import { requesterOf } from '#ledger/ledger/api/kubectl-columns.ts';
import type { RecordObject } from '#ledger/ledger/api/object.ts';
import { namesOf } from '../ledger/formats.ts';
import type { AskedRecord, ReplayedVerdict, ReplayJudge } from './replay-judge.ts';
import { certificateOf } from '#cli/sources/ledger-records.ts';

/** The recorded decision. `PERSON`: a person approved it, because no rule decided. */
interface RecordedVerdict {
  readonly word: 'APPROVE' | 'DENY' | 'PERSON';
  readonly rule?: string;
  readonly reason?: string;
  /** Names of a pod's leaf, sorted. */
  readonly names?: readonly string[];
}

/** One request with another decision, or one that cannot be replayed. */
export interface ReplayedRequest {
  readonly request: Pick<AskedRecord['request'], 'kind' | 'namespace' | 'name' | 'uid'>;
  /** Requester, as text for people. */
  readonly requester: string;
  /** The name of the record of the last decision. */
  readonly record: string;
  readonly at: string;
  readonly before: RecordedVerdict;
  readonly now: ReplayedVerdict & { readonly names?: readonly string[] };
}

/** The result of `countersign policy replay`. */
export interface ReplayReport {
  readonly requests: number;
  readonly same: number;
  readonly different: readonly ReplayedRequest[];
  readonly unknown: readonly ReplayedRequest[];
}

/** Refusals that no rule and no profile changes. Their causes are not in the record. */
const WHATEVER_THE_RULES: readonly string[] = [
  'MalformedRequest',
  'NonEmptyStubRequest',
  'CertificateAuthority',
  'InvalidDuration',
];

/** Collects records, the oldest first. */
export class Replay {
  readonly #judge: ReplayJudge;
  /** Requests by their UID. */
  readonly #found = new Map<string, ReplayedRequest>();

  constructor(judge: ReplayJudge) {
    this.#judge = judge;
  }

  /** Adds a record. It ignores records without a decision. */
  add(object: RecordObject): void {
    const { record, metadata, appended } = object;
    if (!('request' in record)) return;
    const { kind, namespace, name, uid } = record.request;
    const known = this.#found.get(uid);
    this.#found.set(uid, {
      request: { kind, name, uid, ...(namespace === undefined ? {} : { namespace }) },
      requester: requesterOf(record),
      record: metadata.name,
      at: appended.at,
      before: recorded(object, record, known?.before),
      // All records of a request have the same content.
      now: known?.now ?? this.#judge(record),
    });
  }

  report(): ReplayReport {
    const all = [...this.#found.values()];
    const unknown = all.filter((each) => each.now.word === 'UNKNOWN' && !isFixed(each.before));
    const different = all.filter((each) => isDifferent(each));
    const same = all.length - unknown.length - different.length;
    return { requests: all.length, same, different, unknown };
  }
}

/**
 * Returns the last decision. An approval by a rule remains the decision of the certificate that
 * follows it.
 */
function recorded(
  object: RecordObject,
  record: AskedRecord,
  before: RecordedVerdict | undefined,
): RecordedVerdict {
  const rule = record.decision?.rule ?? before?.rule;
  const named = rule === undefined ? {} : { rule };
  if (record.kind === 'denied' || record.kind === 'failed')
    return { word: 'DENY', reason: record.reason, ...named };
  if (record.kind === 'issued' && isOfPerson(record, before)) return { word: 'PERSON' };
  return { word: 'APPROVE', ...named, ...namesIn(object, record) };
}

/** Reports whether this is a CertificateSigningRequest that no rule has approved. */
function isOfPerson({ request }: AskedRecord, before: RecordedVerdict | undefined): boolean {
  return request.kind === 'CertificateSigningRequest' && before?.word !== 'APPROVE';
}

/**
 * Returns the names of a pod. Only these come from the signer. Other requests contain their names.
 */
function namesIn(object: RecordObject, { request }: AskedRecord): Pick<RecordedVerdict, 'names'> {
  if (request.kind !== 'PodCertificateRequest') return {};
  const certificate = certificateOf(object);
  return certificate === undefined ? {} : { names: namesOf(certificate).toSorted() };
}

function isFixed({ reason = '' }: RecordedVerdict): boolean {
  return WHATEVER_THE_RULES.includes(reason);
}

function isDifferent({ before, now }: ReplayedRequest): boolean {
  if (now.word === 'UNKNOWN' || isFixed(before)) return false;
  // If the rules leave the decision to people, a person decides as before.
  if (before.word === 'PERSON') return now.word === 'DENY';
  if (before.word !== now.word) return true;
  return (
    before.names !== undefined &&
    now.names !== undefined &&
    before.names.join('\n') !== now.names.join('\n')
  );
}
