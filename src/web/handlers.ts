// SPDX-License-Identifier: Apache-2.0
import { printable } from '../quote.ts';

/** Liveness: the event loop runs. It checks nothing else, so that an outage elsewhere restarts no pod. */
export const healthz: Handler = () => ({ status: 200, contentType: TEXT, body: 'ok\n' });

/**
 * @param notReady - why the component is not ready, one reason a line; empty when it is
 * @param warnings - what needs attention although the component is ready
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

/** Reasons and warnings repeat what others wrote, and people read them in terminals. */
function lines(texts: readonly string[]): string {
  return texts.map((text) => `${printable(text)}\n`).join('');
}

const warning = (text: string): string => `warning: ${text}`;

/** What a handler says; `server.ts` turns it into HTTP. */
export interface HttpResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A handler knows nothing of express. A rejection becomes a 500 that says nothing. */
export type Handler = () => HttpResponse | Promise<HttpResponse>;

export const TEXT = 'text/plain; charset=utf-8';
