// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import type { Delay, Log, Random } from '../../ports.ts';
import { backoffDelay } from '../wait/backoff.ts';
import type { Client, RequestInit } from '../client/client.ts';
import { createFifo } from '../workqueue/fifo.ts';
import { KubeError } from '../client/kube-error.ts';

export interface EventRequest extends RequestInit {
  readonly onSent?: () => void;
  readonly onGivenUp: () => void;
}

/**
 * Why an Event was not written: too many at once, too many that wait, or the API server did not take it,
 * for good or for as long as it was tried.
 */
export type DropCause = 'rate' | 'full' | 'refused';

/** Sends one request after the other, in the background. Never throws. */
export interface EventSender {
  readonly send: (request: EventRequest) => void;
  /** The last call: what was not sent 5 s later is given up. */
  readonly flush: () => Promise<void>;
}

export interface EventSenderInit {
  readonly client: Client;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly onDropped: (cause: DropCause) => void;
}

/** Beyond this, what is newest is dropped: it is said again with the next retry. */
const MAX_QUEUED = 1_000;
/** A restart of the API server takes seconds; what it does not survive is old news. */
const TRIES = 6;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** A process that ends waits no longer than this for its last words. */
const FLUSH_MS = 5_000;

export function createEventSender(init: EventSenderInit): EventSender {
  const queue = createFifo<EventRequest>();
  const end = new AbortController();
  let sending: Promise<void> | undefined;

  async function drain(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await deliver(next);
    sending = undefined;
  }

  async function deliver(request: EventRequest): Promise<void> {
    try {
      await persist(init, request, end.signal);
      request.onSent?.();
    } catch (error) {
      init.log.warn({ path: request.path, error: messageOf(error) }, 'an Event was not written');
      init.onDropped('refused');
      request.onGivenUp();
    }
  }

  return {
    send: (request) => {
      if (queue.length >= MAX_QUEUED) {
        init.onDropped('full');
        request.onGivenUp();
        return;
      }
      queue.push(request);
      sending ??= drain();
    },
    flush: async () => {
      const patience = new AbortController();
      const timeout = init.delay(FLUSH_MS, patience.signal).catch(() => undefined);
      await Promise.race([sending, timeout]);
      patience.abort();
      end.abort();
    },
  };
}

/** Tries again for as long as the API server is away, and no longer than `TRIES`. */
async function persist(
  { client, delay, random }: EventSenderInit,
  { onSent: _sent, onGivenUp: _givenUp, ...request }: EventRequest,
  signal: AbortSignal,
): Promise<void> {
  const backoff = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random };
  for (let failures = 0; ; failures += 1) {
    try {
      await client.request({ ...request, signal });
      return;
    } catch (error) {
      if (isThere(error)) return;
      if (failures + 1 >= TRIES || !isPassing(error)) throw error;
      await delay(Math.max(backoffDelay(failures, backoff), error.retryAfter ?? 0), signal);
    }
  }
}

/** Our own earlier try, whose answer was lost: the name is ours alone. */
function isThere(error: unknown): boolean {
  return error instanceof KubeError && error.code === 'KUBE_ALREADY_EXISTS';
}

function isPassing(error: unknown): error is KubeError {
  const passing = ['KUBE_UNAVAILABLE', 'KUBE_THROTTLED', 'KUBE_UNAUTHORIZED'];
  return error instanceof KubeError && passing.includes(error.code);
}
