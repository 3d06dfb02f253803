// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import type { Delay, Log, Random } from '#base/ports.ts';
import { backoffDelay } from '../wait/backoff.ts';
import type { Client, RequestInit } from '../client/client.ts';
import { createFairQueue } from '../workqueue/fair-queue.ts';
import { KubeError } from '../client/kube-error.ts';
import { MAX_FLOWS, hasShare } from './budget.ts';

/** One write of an Event, with callbacks for its outcome. */
export interface EventRequest extends RequestInit {
  /** Flows take turns. The requests of one flow are sent in order. */
  readonly flow: string;
  readonly onSent?: () => void;
  readonly onGivenUp: () => void;
}

/**
 * The reason why an Event was not written.
 * - `rate`: it exceeded the rate limit.
 * - `full`: the queue was full.
 * - `refused`: the API server rejected it, or did not answer until the last retry.
 */
export type DropCause = 'rate' | 'full' | 'refused';

/** Sends requests one by one in the background. Never throws. */
export interface EventSender {
  readonly send: (request: EventRequest) => void;
  /** The last call. Gives up what is not sent within 5 s. */
  readonly flush: () => Promise<void>;
}

/** The dependencies of an {@link EventSender}. */
export interface EventSenderInit {
  readonly client: Client;
  readonly delay: Delay;
  readonly random: Random;
  readonly log: Log;
  readonly onDropped: (cause: DropCause) => void;
}

/**
 * The limit of queued Events. Beyond it, new Events of a flow are dropped, and the next retry
 * records them again. While the API server is unavailable, a flow cannot take the room of others.
 */
const MAX_QUEUED = 1_000;
/**
 * The number of attempts. A restart of the API server takes seconds, and an Event that waits longer
 * is out of date.
 */
const TRIES = 6;
const FIRST_EVENT_RETRY_MS = 500;
const MAX_EVENT_RETRY_MS = 10_000;
/** The longest delay of a process that ends, for its last Events. */
const FLUSH_MS = 5_000;

/** @returns a sender with an empty queue */
export function createEventSender(init: EventSenderInit): EventSender {
  const queue = createFairQueue<EventRequest>(init.random);
  const queued = new Map<string, number>();
  const end = new AbortController();
  let sending: Promise<void> | undefined;

  async function drain(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      count(next.flow, -1);
      await deliver(next);
    }
    sending = undefined;
  }

  function count(flow: string, more: number): void {
    const now = (queued.get(flow) ?? 0) + more;
    if (now === 0) queued.delete(flow);
    else queued.set(flow, now);
  }

  function hasRoom(flow: string): boolean {
    const own = queued.get(flow) ?? 0;
    if (own === 0 && queued.size >= MAX_FLOWS) return false;
    return hasShare(own, queue.length, MAX_QUEUED);
  }

  async function deliver(request: EventRequest): Promise<void> {
    try {
      await sendWithRetry(init, request, end.signal);
      request.onSent?.();
    } catch (error) {
      init.log.warn({ path: request.path, error: messageOf(error) }, 'Event not written');
      init.onDropped('refused');
      request.onGivenUp();
    }
  }

  return {
    send: (request) => {
      const { flow } = request;
      if (!hasRoom(flow)) {
        init.onDropped('full');
        request.onGivenUp();
        return;
      }
      queue.push(request, { distinguishers: [flow] });
      count(flow, 1);
      sending ??= drain();
    },
    flush: async () => {
      const done = new AbortController();
      const timeout = init.delay(FLUSH_MS, done.signal).catch(() => undefined);
      await Promise.race([sending, timeout]);
      done.abort();
      end.abort();
    },
  };
}

/** Retries while the API server is unavailable, at most `TRIES` times. */
async function sendWithRetry(
  { client, delay, random }: EventSenderInit,
  { flow: _flow, onSent: _sent, onGivenUp: _givenUp, ...request }: EventRequest,
  signal: AbortSignal,
): Promise<void> {
  const backoff = { firstMs: FIRST_EVENT_RETRY_MS, maxMs: MAX_EVENT_RETRY_MS, random };
  for (let failures = 0; ; failures += 1) {
    try {
      await client.request({ ...request, signal });
      return;
    } catch (error) {
      if (isStored(error)) return;
      if (failures + 1 >= TRIES || !isTransient(error)) throw error;
      await delay(Math.max(backoffDelay(failures, backoff), error.retryAfter ?? 0), signal);
    }
  }
}

/**
 * Reports whether an earlier attempt was stored and its response lost. No other client uses that
 * name.
 */
function isStored(error: unknown): boolean {
  return error instanceof KubeError && error.code === 'KUBE_ALREADY_EXISTS';
}

function isTransient(error: unknown): error is KubeError {
  const transient = ['KUBE_UNAVAILABLE', 'KUBE_THROTTLED', 'KUBE_UNAUTHORIZED'];
  return error instanceof KubeError && transient.includes(error.code);
}
