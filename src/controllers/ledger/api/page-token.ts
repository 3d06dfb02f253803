// SPDX-License-Identifier: Apache-2.0
/** `metadata.continue`: where the next page begins, with the times of the query as they were meant first. Pure. */
import { createHash } from 'node:crypto';
import type { RecordCursor } from '../../../ledger/index.ts';
import type { AskedRecords } from './selector.ts';

/** Which request a token continues. */
export interface Continued {
  readonly namespace: string | undefined;
  readonly selector: string;
  readonly oldestFirst: boolean;
}

/** What a token says. Nobody sees more by another one: what may be seen is asked for each page. */
export interface PageToken {
  readonly after: RecordCursor;
  readonly times: Times;
}

type Times = Pick<AskedRecords, (typeof TIMES)[number]>;

const TIMES = ['since', 'until', 'expiresAfter', 'expiresBefore'] as const;
const TOKEN = /^[\w-]{16}\.\d{1,16}(?:\.\d{0,16}){5}$/;

/** The token as text of a URL. */
export function formatPageToken(of: Continued, { after, times }: PageToken): string {
  const numbers = [after.id, after.notAfter, ...TIMES.map((each) => times[each])];
  return [digestOf(of), ...numbers.map((each) => each ?? '')].join('.');
}

/** Nothing for a token that is none, or of another request. */
export function parsePageToken(text: string, of: Continued): PageToken | undefined {
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

function digestOf({ namespace, selector, oldestFirst }: Continued): string {
  const text = JSON.stringify([namespace ?? null, selector, oldestFirst]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
