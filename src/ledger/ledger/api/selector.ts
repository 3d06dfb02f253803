// SPDX-License-Identifier: Apache-2.0
/**
 * Parses a field selector into a search:
 * `kubectl get records --field-selector user=jane,expiresIn=24h`. Any Kubernetes client can send
 * one. Pure.
 */
import { parseDuration } from '#api/object/duration.ts';
import { parseTime } from '#api/object/time.ts';
import { attempt, SignerError } from '#base/errors.ts';
import { serialDigits, sha256Fingerprint } from '#base/hex-digits.ts';
import type { LedgerRecord, RecordQuery, SearchTerm, TermKind } from '#ledger/index.ts';
import * as messages from '../messages.ts';

/** A query without its page. */
export type RecordFilter = Omit<RecordQuery, 'after' | 'limit'>;

/** The reason why a selector is invalid. */
export interface SelectorFault {
  readonly fault: string;
}

type Kind = LedgerRecord['kind'] | 'erased';

const KINDS: readonly Kind[] = [
  'issued',
  'approved',
  'denied',
  'failed',
  'result',
  'authority',
  'gap',
  'erased',
];

const SHOWN = KINDS.filter((kind) => kind !== 'result');

/** Fields whose values are compared verbatim. */
const PLAIN: Readonly<Record<string, TermKind>> = {
  san: 'san',
  spiffe: 'san',
  subject: 'subject',
  podUID: 'podUid',
  user: 'user',
  node: 'node',
  signer: 'signer',
  rule: 'rule',
  request: 'request',
};

/** Fields of namespaced objects: `team/web`, or `web` in a namespaced request. */
const NAMED: Readonly<Record<string, TermKind>> = { pod: 'pod', serviceAccount: 'serviceAccount' };

const TIMES = ['since', 'until', 'expiresAfter', 'expiresBefore'] as const;

/** All fields, for messages and documentation. */
const FIELDS: readonly string[] = [
  'serial',
  'fingerprint',
  'san',
  'spiffe',
  'subject',
  'pod',
  'podUID',
  'serviceAccount',
  'user',
  'node',
  'signer',
  'ca',
  'rule',
  'request',
  'kind',
  ...TIMES,
  'expiresIn',
];

/**
 * Limit of the distinct requirements of a selector: each field once, or several names of one
 * certificate. The store looks up each of them for each record that it scans.
 */
const MAX_REQUIREMENTS = 20;

interface Where {
  /** Namespace of the records. Absent for all. */
  readonly namespace?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Parses a field selector. In a namespace it finds only records of this namespace.
 * @returns the query, or the fault
 */
export function parseFieldSelector(selector: string, where: Where): RecordFilter | SelectorFault {
  const { namespace } = where;
  let asked: RecordFilter = {
    terms: namespace === undefined ? [] : [{ kind: 'namespace', value: namespace }],
  };
  const requirements = requirementsOf(selector);
  if (requirements.length > MAX_REQUIREMENTS) {
    return { fault: messages.tooManyRequirements(requirements.length, MAX_REQUIREMENTS) };
  }
  for (const [field, value] of requirements) {
    if (value === undefined) return { fault: messages.notARequirement(field) };
    const part = partOf(field, value, where);
    if ('fault' in part) return part;
    asked = { ...asked, ...part, terms: [...asked.terms, ...(part.terms ?? [])] };
  }
  // Results appear with their certificate. In a namespace a result alone could not be attributed.
  return asked.kinds === undefined ? { ...asked, kinds: SHOWN } : asked;
}

type Part = Partial<RecordFilter> | SelectorFault;

function partOf(field: string, value: string, where: Where): Part {
  const time = TIMES.find((each) => each === field);
  if (time !== undefined) return timeOf(time, value, where.now);
  if (field === 'expiresIn') {
    const until = timeOf('expiresBefore', `+${value}`, where.now);
    if (!('fault' in until)) return { expiresAfter: where.now, ...until };
    return { fault: messages.invalidDuration(value) };
  }
  // Undefined would drop out of the query and select the default kinds.
  if (field === 'kind' && value === 'any') return { kinds: KINDS };
  if (field === 'kind') {
    const kind = KINDS.find((each) => each === value);
    if (kind !== undefined) return { kinds: [kind] };
    return { fault: messages.invalidKind(value, KINDS) };
  }
  const term = termOf(field, value, where);
  return 'fault' in term ? term : { terms: [term] };
}

/**
 * Parses a time in RFC 3339, or a duration. A duration counts back from now, or forward with a plus
 * sign.
 */
function timeOf(field: (typeof TIMES)[number], text: string, now: number): Part {
  const [, sign = '', days, rest = ''] = /^(\+?)(?:(\d{1,5})d)?(.*)$/s.exec(text) ?? [];
  const seconds = attempt(() => (rest === '' && days !== undefined ? 0 : parseDuration(rest)));
  if (!(seconds instanceof SignerError)) {
    const milliseconds = (Number(days ?? 0) * 86_400 + seconds) * 1000;
    return { [field]: sign === '+' ? now + milliseconds : now - milliseconds };
  }
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? parseTime(text) : NaN;
  if (!Number.isNaN(time)) return { [field]: time };
  return { fault: messages.invalidTime(field, text) };
}

function termOf(field: string, value: string, { namespace }: Where): SearchTerm | SelectorFault {
  if (!FIELDS.includes(field)) return { fault: messages.unknownField(field, FIELDS) };
  const plain = PLAIN[field];
  if (plain !== undefined) return { kind: plain, value };
  const named = NAMED[field];
  if (named === undefined) return digestTerm(field, value);
  if (value.includes('/')) return { kind: named, value };
  if (namespace !== undefined) return { kind: named, value: `${namespace}/${value}` };
  return { fault: messages.invalidName(field, value) };
}

function digestTerm(field: string, value: string): SearchTerm | SelectorFault {
  const hex = serialDigits(value);
  if (field === 'serial' && /^[0-9a-f]{1,64}$/.test(hex)) {
    return { kind: 'serial', value: serialOf(hex) };
  }
  const print = sha256Fingerprint(value);
  if ((field === 'fingerprint' || field === 'ca') && print !== undefined) {
    return { kind: field, value: print };
  }
  return { fault: messages.notHexadecimal(field, value) };
}

/**
 * Normalizes a serial to whole bytes as the index has it, without the leading zero of a positive
 * DER INTEGER.
 */
function serialOf(hex: string): string {
  const digits = hex.replace(/^0+(?=.)/, '');
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

type Requirement = readonly [field: string, value: string | undefined];

/**
 * Splits requirements like apimachinery's fields.ParseSelector: `=` or `==`, with a backslash
 * before `\`, `,` and `=`. It refuses `!=`, and drops repetitions.
 */
function requirementsOf(selector: string): readonly Requirement[] {
  const parts = new Set(selector.match(/(?:\\.|[^,\\])+/gs));
  return [...parts].map((part): Requirement => {
    const [, field = part, value] = /^((?:[^=!\\]|\\.)+?)==?(.*)$/s.exec(part) ?? [];
    return [field, value?.replace(/\\([\\,=])/g, '$1')];
  });
}
