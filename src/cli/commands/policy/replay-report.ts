// SPDX-License-Identifier: Apache-2.0
/** Recorded decisions beside those of other rules. Pure. */
import { requesterOf } from '../../../controllers/ledger/api/table.ts';
import type { RecordObject } from '../../../controllers/ledger/api/object.ts';
import { namesOf } from '../ledger/formats.ts';
import type { AskedRecord, ReplayedVerdict, ReplayJudge } from './replay-judge.ts';
import { certificateOf } from '../../sources/ledger-records.ts';

/** What was decided. `PERSON`: no rule did, and somebody approved it. */
interface RecordedVerdict {
  readonly word: 'APPROVE' | 'DENY' | 'PERSON';
  readonly rule?: string;
  readonly reason?: string;
  /** Of a pod's leaf, sorted. */
  readonly names?: readonly string[];
}

/** One request that is decided differently, or that cannot be replayed. */
export interface ReplayedRequest {
  readonly request: Pick<AskedRecord['request'], 'kind' | 'namespace' | 'name' | 'uid'>;
  /** For people. */
  readonly requester: string;
  /** The name of the record of the last decision. */
  readonly record: string;
  readonly at: string;
  readonly before: RecordedVerdict;
  readonly now: ReplayedVerdict & { readonly names?: readonly string[] };
}

/** What `countersign policy replay` finds. */
export interface ReplayReport {
  readonly requests: number;
  readonly same: number;
  readonly different: readonly ReplayedRequest[];
  readonly unknown: readonly ReplayedRequest[];
}

/** Refusals that no rule and no profile changes: what they rest on is not in the record. */
const WHATEVER_THE_RULES: readonly string[] = [
  ...['MalformedRequest', 'NonEmptyStubRequest', 'CertificateAuthority', 'InvalidDuration'],
];

/** Gathers records, the oldest first. */
export class Replay {
  readonly #judge: ReplayJudge;
  /** By the UID of the request. */
  readonly #found = new Map<string, ReplayedRequest>();

  constructor(judge: ReplayJudge) {
    this.#judge = judge;
  }

  /** A record; those that decide nothing are passed over. */
  add(object: RecordObject): void {
    const { record, metadata, appended } = object;
    if (!('request' in record)) return;
    const { kind, namespace, name, uid } = record.request;
    const known = this.#found.get(uid);
    this.#found.set(uid, {
      request: { kind, name, uid, ...(namespace === undefined ? {} : { namespace }) },
      requester: requesterOf(record),
      ...{ record: metadata.name, at: appended.at },
      before: recorded(object, record, known?.before),
      // All records of a request ask for the same.
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

/** The last decision; the approval of a rule stays that of the certificate that follows it. */
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

/** A CertificateSigningRequest that no rule has approved. */
function isOfPerson({ request }: AskedRecord, before: RecordedVerdict | undefined): boolean {
  return request.kind === 'CertificateSigningRequest' && before?.word !== 'APPROVE';
}

/** Only the names of pods come from the signer; those of others are what they ask for. */
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
  // Where rules leave it to people, a person decides as before.
  if (before.word === 'PERSON') return now.word === 'DENY';
  if (before.word !== now.word) return true;
  return (
    before.names !== undefined &&
    now.names !== undefined &&
    before.names.join('\n') !== now.names.join('\n')
  );
}
