// SPDX-License-Identifier: Apache-2.0
import type { Delay } from '#base/ports.ts';
import type { Client } from './client.ts';
import { KubeError } from './kube-error.ts';

/** The parts of sending a request again. */
export interface ResendInit {
  readonly delay: Delay;
  readonly signal?: AbortSignal | undefined;
  /** Longest wait in milliseconds, since a proxy in between may name any. */
  readonly maxWaitMs: number;
  /** Reports whether to send again. Default: after 429, with which the server did nothing. */
  readonly isTransient?: (error: KubeError) => boolean;
}

/** Times that a request is sent again, and the wait in milliseconds if the answer names none. */
const MAX_RESENDS = 5;
const RESEND_WAIT_MS = 1_000;

/**
 * Sends a request again while the server is busy, each time after its Retry-After.
 *
 * @throws the error of the last answer
 */
export async function resend<R>(
  send: () => Promise<R>,
  { delay, signal, maxWaitMs, isTransient = isThrottled }: ResendInit,
): Promise<R> {
  for (let resends = 0; ; resends += 1) {
    try {
      return await send();
    } catch (error) {
      const isLast = resends === MAX_RESENDS || !(error instanceof KubeError);
      if (isLast || !isTransient(error)) throw error;
      await delay(Math.min(error.retryAfter ?? RESEND_WAIT_MS, maxWaitMs), signal);
    }
  }
}

/** Returns a client that sends each request again after 429. */
export function resendingClient(client: Client, init: ResendInit): Client {
  return {
    request: <T>(request: Parameters<Client['request']>[0]) =>
      resend(() => client.request<T>(request), init),
    stream: (request) => resend(() => client.stream(request), init),
    clockOffset: () => client.clockOffset(),
    close: () => client.close(),
  };
}

function isThrottled({ code }: KubeError): boolean {
  return code === 'KUBE_THROTTLED';
}
