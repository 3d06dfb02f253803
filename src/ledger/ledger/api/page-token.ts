// SPDX-License-Identifier: Apache-2.0
/**
 * Encodes `metadata.continue`: the start of the next page, with the times of the query as the first
 * page resolved them. Pure.
 */
import { createHash } from 'node:crypto';
import type { RecordCursor } from '#ledger/index.ts';
import type { RecordFilter } from './selector.ts';

/** The request that a token continues. */
export interface PagedRequest {
  readonly namespace: string | undefined;
  readonly selector: string;
  readonly oldestFirst: boolean;
}

/** The contents of a token. A forged one reveals nothing more, because each page is authorized. */
export interface PageToken {
  readonly after: RecordCursor;
  readonly times: Times;
}

type Times = Pick<RecordFilter, (typeof TIMES)[number]>;

const TIMES = ['since', 'until', 'expiresAfter', 'expiresBefore'] as const;
const TOKEN = /^[\w-]{16}\.\d{1,16}(?:\.\d{0,16}){5}$/;

/** Formats the token for a URL. */
export function formatPageToken(of: PagedRequest, { after, times }: PageToken): string {
  const numbers = [after.id, after.notAfter, ...TIMES.map((each) => times[each])];
  return [digestOf(of), ...numbers.map((each) => each ?? '')].join('.');
}

/** Parses a token. Returns undefined if it is malformed or of another request. */
export function parsePageToken(text: string, of: PagedRequest): PageToken | undefined {
  const [digest, id, notAfter, ...times] = TOKEN.test(text) ? text.split('.') : [];
  if (digest !== digestOf(of)) return undefined;
  const given = TIMES.flatMap((name, at) => {
    const time = times[at] ?? '';
    return time === '' ? [] : [[name, Number(time)] as const];
  });
  return {
    after: {
      id: Number(id),
      ...(notAfter === undefined || notAfter === '' ? {} : { notAfter: Number(notAfter) }),
    },
    times: Object.fromEntries(given),
  };
}

function digestOf({ namespace, selector, oldestFirst }: PagedRequest): string {
  const text = JSON.stringify([namespace ?? null, selector, oldestFirst]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
