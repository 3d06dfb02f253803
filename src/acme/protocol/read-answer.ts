// SPDX-License-Identifier: Apache-2.0
import type * as z from 'zod';
import { quote } from '#base/quote.ts';
import type { Answer } from './answer.ts';
import { unusable, type NoAnswer } from '#base/egress/no-answer.ts';
import type { HttpAnswer } from '#base/egress/exchange.ts';
import { readProblem } from './problem.ts';
import { FOREIGN } from './resources.ts';
import { parseRetryAfter } from '#base/egress/retry-after.ts';
import * as messages from './messages.ts';

/**
 * Reads a complete answer.
 *
 * @param read - reads a success
 * @param now - milliseconds since 1970
 */
export function interpret<T>(
  received: HttpAnswer,
  read: (received: HttpAnswer) => T | NoAnswer,
  now: number,
): Answer<T> {
  const { status, headers, body } = received;
  const retryAfterMs = parseRetryAfter(one(headers['retry-after']), one(headers['date']), now);
  const waiting = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status >= 400) {
    const document = readProblem(jsonIn(body));
    return { kind: 'problem', status, ...document, ...waiting };
  }
  const value = read(received);
  return isNoAnswer(value) ? value : { kind: 'ok', value, ...waiting };
}

/** Reads a JSON body of the given shape. */
export function jsonOf<T>(schema: z.ZodType<T>): (received: HttpAnswer) => T | NoAnswer {
  return ({ body }) => shaped(schema, jsonIn(body), messages.THE_ANSWER);
}

/**
 * Returns a value of the given shape, or the reason that it is unusable. The reason has the path of
 * the member, never its contents.
 */
export function shaped<T>(schema: z.ZodType<T>, value: unknown, what: string): T | NoAnswer {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue === undefined || issue.path.length === 0 ? '' : `, ${issue.path.join('.')}`;
  if (issue?.message === FOREIGN) {
    const own: unknown = issue.code === 'custom' ? issue.params?.['origins'] : undefined;
    const origins = Array.isArray(own) ? own.map((each) => quote(String(each), 200)) : [];
    const fault = messages.foreignUrl(originAt(value, issue.path), origins);
    return unusable(
      messages.unusableMember(what, quote(path, 80).slice(1, -1), fault),
      'foreign-url',
    );
  }
  return unusable(messages.notRfc8555(what, quote(path, 80).slice(1, -1)));
}

/** Returns the quoted origin of a URL in a value. It is part of no secret, unlike a URL's path. */
function originAt(value: unknown, path: readonly PropertyKey[]): string {
  let at = value;
  for (const key of path)
    at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
  const url = typeof at === 'string' && URL.canParse(at) ? new URL(at) : undefined;
  // The origin of other schemes is "null".
  return quote(url === undefined ? '' : `${url.protocol}//${url.host}`, 200);
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

export function isNoAnswer(value: unknown): value is NoAnswer {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'transport'
  );
}

/** Returns the first value of a header. */
export function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
