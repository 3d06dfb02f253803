// SPDX-License-Identifier: Apache-2.0
import { printable } from '#base/quote.ts';

/**
 * Reports liveness: the event loop runs. Checks nothing else, so that an outage elsewhere restarts
 * no pod.
 */
export const healthz: Handler = () => ({ status: 200, contentType: TEXT, body: 'ok\n' });

/**
 * Reports readiness.
 *
 * @param notReady - returns why the component is not ready, one reason a line, or nothing if it is
 * @param warnings - returns what needs attention although the component is ready
 */
export function readyz(
  notReady: () => readonly string[],
  warnings: () => readonly string[],
): Handler {
  return () => {
    const reasons = notReady();
    return reasons.length === 0
      ? { status: 200, contentType: TEXT, body: lines(['ok', ...warnings().map(warning)]) }
      : { status: 503, contentType: TEXT, body: lines(reasons) };
  };
}

/**
 * Joins lines of printable text. Reasons and warnings repeat what others wrote, and people read
 * them in terminals.
 */
function lines(texts: readonly string[]): string {
  return texts.map((text) => `${printable(text)}\n`).join('');
}

const warning = (text: string): string => `warning: ${text}`;

/** The response of a handler, which `server.ts` turns into HTTP. */
export interface HttpResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A handler without knowledge of express. A rejection becomes a 500 without details. */
export type Handler = () => HttpResponse | Promise<HttpResponse>;

export const TEXT = 'text/plain; charset=utf-8';
