// SPDX-License-Identifier: Apache-2.0
/**
 * What a search asks for, in a field selector: `kubectl get records --field-selector user=jane,expiresIn=24h`. Any
 * client of Kubernetes can write one. Pure.
 */
import { parseDuration } from '../../../api/object/duration.ts';
import { parseTime } from '../../../api/object/time.ts';
import { attempt, SignerError } from '../../../errors.ts';
import type { LedgerRecord, RecordQuery, SearchTerm, TermKind } from '../../../ledger/index.ts';
import { quote } from '../../../quote.ts';

/** What a query is made of, besides where it goes on and how long a page is. */
export type AskedRecords = Omit<RecordQuery, 'after' | 'limit'>;

/** Why a selector cannot be understood. */
export interface SelectorFault {
  readonly fault: string;
}

type Kind = LedgerRecord['kind'] | 'erased';

const KINDS: readonly Kind[] = [
  ...(['issued', 'approved', 'denied', 'failed', 'result', 'authority', 'gap', 'erased'] as const),
];

/** Fields whose values are compared as they are. */
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

/** Fields of objects in namespaces: `team/web`, or `web` where a namespace is asked for. */
const NAMED: Readonly<Record<string, TermKind>> = { pod: 'pod', serviceAccount: 'serviceAccount' };

const TIMES = ['since', 'until', 'expiresAfter', 'expiresBefore'] as const;

/** All fields, for messages and documentation. */
const FIELDS: readonly string[] = [
  ...['serial', 'fingerprint', 'san', 'spiffe', 'subject', 'pod', 'podUID', 'serviceAccount'],
  ...['user', 'node', 'signer', 'ca', 'rule', 'request', 'kind', ...TIMES, 'expiresIn'],
];

interface Where {
  /** Of which records are asked for; absent: of all. */
  readonly namespace?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Reads a field selector. What is asked for in a namespace is of records of that namespace alone.
 *
 * @returns the query, or why there is none
 */
export function askedBy(selector: string, where: Where): AskedRecords | SelectorFault {
  const namespace = where.namespace;
  let asked: AskedRecords = {
    terms: namespace === undefined ? [] : [{ kind: 'namespace', value: namespace }],
  };
  for (const [field, value] of requirementsOf(selector)) {
    if (value === undefined) return { fault: `${quote(field)} is no <field>=<value>` };
    const part = partOf(field, value, where);
    if ('fault' in part) return part;
    asked = { ...asked, ...part, terms: [...asked.terms, ...(part.terms ?? [])] };
  }
  // A result is shown with its certificate; in a namespace it could not be told whose it is.
  return asked.kinds === undefined ? { ...asked, kinds: SHOWN } : asked;
}

const SHOWN = KINDS.filter((kind) => kind !== 'result');

type Part = Partial<AskedRecords> | SelectorFault;

function partOf(field: string, value: string, where: Where): Part {
  const time = TIMES.find((each) => each === field);
  if (time !== undefined) return timeOf(time, value, where.now);
  if (field === 'expiresIn') {
    const until = timeOf('expiresBefore', `+${value}`, where.now);
    if (!('fault' in until)) return { expiresAfter: where.now, ...until };
    return { fault: `expiresIn is ${quote(value)}; write a duration as 7d, 24h or 90m` };
  }
  // Undefined would be left out of the query, and mean what is shown by default.
  if (field === 'kind' && value === 'any') return { kinds: KINDS };
  if (field === 'kind') {
    const kind = KINDS.find((each) => each === value);
    if (kind !== undefined) return { kinds: [kind] };
    return { fault: `kind is ${quote(value)}; use one of ${KINDS.join(', ')} or any` };
  }
  const term = termOf(field, value, where);
  return 'fault' in term ? term : { terms: [term] };
}

/** A time in RFC 3339, or a duration: before now; with a plus sign after it. */
function timeOf(field: (typeof TIMES)[number], text: string, now: number): Part {
  const [, sign = '', days, rest = ''] = /^(\+?)(?:(\d{1,5})d)?(.*)$/s.exec(text) ?? [];
  const seconds = attempt(() => (rest === '' && days !== undefined ? 0 : parseDuration(rest)));
  if (!(seconds instanceof SignerError)) {
    const milliseconds = (Number(days ?? 0) * 86_400 + seconds) * 1000;
    return { [field]: sign === '+' ? now + milliseconds : now - milliseconds };
  }
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? parseTime(text) : NaN;
  if (!Number.isNaN(time)) return { [field]: time };
  return {
    fault: `${field} is ${quote(text)}; write a time as 2026-11-22T13:30:00Z, or a duration as 30d, 24h or 90m`,
  };
}

function termOf(field: string, value: string, { namespace }: Where): SearchTerm | SelectorFault {
  const plain = PLAIN[field];
  if (plain !== undefined) return { kind: plain, value };
  const named = NAMED[field];
  if (named === undefined) return digestOf(field, value);
  if (value.includes('/')) return { kind: named, value };
  if (namespace !== undefined) return { kind: named, value: `${namespace}/${value}` };
  return { fault: `${field} is ${quote(value)}; write <namespace>/<name>, or ask in a namespace` };
}

function digestOf(field: string, value: string): SearchTerm | SelectorFault {
  const hex = value
    .toLowerCase()
    .replace(/^sha256:/, '')
    .replaceAll(':', '');
  if (field === 'serial' && /^[0-9a-f]{1,64}$/.test(hex)) {
    return { kind: 'serial', value: serialOf(hex) };
  }
  if ((field === 'fingerprint' || field === 'ca') && /^[0-9a-f]{64}$/.test(hex)) {
    return { kind: field, value: `sha256:${hex}` };
  }
  return {
    fault: FIELDS.includes(field)
      ? `${field} is ${quote(value)}, which is not in hexadecimal`
      : `there is no field ${quote(field)}; use ${FIELDS.join(', ')}`,
  };
}

/** As records are found by it: whole bytes without the zero that a positive INTEGER of DER may begin with. */
function serialOf(hex: string): string {
  const digits = hex.replace(/^0+(?=.)/, '');
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

type Requirement = readonly [field: string, value: string | undefined];

/** Requirements as apimachinery's fields.ParseSelector has them: `=` or `==`; a backslash before `\`, `,` and `=`. */
function requirementsOf(selector: string): readonly Requirement[] {
  const parts = selector.match(/(?:\\.|[^,\\])+/gs) ?? [];
  return parts.map((part): Requirement => {
    const [, field = part, value] = /^((?:[^=!\\]|\\.)+?)==?(.*)$/s.exec(part) ?? [];
    return [field, value?.replace(/\\([\\,=])/g, '$1')];
  });
}
