// SPDX-License-Identifier: Apache-2.0
import * as z from 'zod';
import { quote } from '#base/quote.ts';
import { PROBLEM_TYPES, type Problem, type ProblemType, type Subproblem } from './answer.ts';

const PREFIX = 'urn:ietf:params:acme:error:';

/** Limit in UTF-16 units on a server's text in a status. */
const MAX_DETAIL = 400;
const MAX_IDENTIFIER = 253;
/** An order has at most a hundred names. Ten problems are enough to find the cause. */
const MAX_SUBPROBLEMS = 10;

const text = z.string().catch('');
const document = z.object({ type: text, detail: text, title: text }).partial();
const withSubproblems = document.extend({
  subproblems: z
    .array(document.extend({ identifier: z.object({ value: text }).optional().catch(undefined) }))
    .optional()
    .catch(undefined),
});

/**
 * A problem document for display (RFC 8555 §6.7). It is the body of a 4xx or 5xx answer, or the
 * `error` of a challenge or order.
 */
export type ProblemDocument = Pick<Problem, 'type' | 'detail' | 'subproblems'>;

/**
 * Reads a problem document. Anything else gets the type `none`. Never throws: a faulty server may
 * send any body with an error status.
 */
export function readProblem(value: unknown): ProblemDocument {
  const parsed = withSubproblems.safeParse(value);
  if (!parsed.success) return { type: 'none', detail: '', subproblems: [] };
  const { type = '', detail, title, subproblems = [] } = parsed.data;
  return {
    type: problemType(type),
    detail: shown(detail ?? title ?? ''),
    subproblems: subproblems.slice(0, MAX_SUBPROBLEMS).map((each): Subproblem => ({
      type: problemType(each.type ?? ''),
      identifier: quote(each.identifier?.value ?? '', MAX_IDENTIFIER),
      detail: shown(each.detail ?? ''),
    })),
  };
}

function problemType(type: string): ProblemType {
  const name = type.startsWith(PREFIX) ? type.slice(PREFIX.length) : '';
  const known = PROBLEM_TYPES.find((each) => each === name);
  if (known !== undefined) return known;
  return type === '' || type === 'about:blank' ? 'none' : 'other';
}

function shown(detail: string): string {
  return detail === '' ? '' : quote(withoutIds(detail), MAX_DETAIL);
}

/**
 * Ids that differ between equal errors. With them each status write would be a change, which wakes
 * its writer.
 */
const IDS: readonly RegExp[] = [
  /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi,
  /(?<=\b(?:request|trace|correlation|event|ray|error|span|transaction)[ _-]?id["']?\s{0,3}[:=#]?\s{0,3}["']?)[\w./+=-]+/gi,
  /(?<=\bnonce["']?\s{0,3}[:=]?\s{0,3}["'])[\w-]+/gi,
  /\b[0-9a-f]{32,}\b/gi,
];

/** @internal Removes the ids that a server gives each request. */
function withoutIds(detail: string): string {
  // Cut first, so that the patterns run over little more than the kept text.
  const cut = detail.slice(0, 4 * MAX_DETAIL);
  return IDS.reduce((left, pattern) => left.replace(pattern, '…'), cut);
}
