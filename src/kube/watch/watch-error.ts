// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import { KubeError } from '../client/kube-error.ts';

/** The faults of a watch itself. An error response of the server is a KubeError. */
export type WatchFault =
  /** It closed within a second: a proxy or load balancer cuts it. */
  | 'short'
  /** No complete event for too long: a half-open connection, or bytes that trickle. */
  | 'silent'
  /** It closed in the middle of an event. */
  | 'truncated'
  /** It sent something other than a watch event, or a line that is too long. */
  | 'malformed'
  /** The preflight check failed, and nothing was sent. */
  | 'withheld'
  /** It sent an event older than its predecessor: others may have been lost. */
  | 'disordered';

/**
 * Faults without a sign of an outage: nothing was sent, or the server answered and a proxy cuts
 * each watch.
 */
const ASSURED: ReadonlySet<WatchFault> = new Set(['withheld', 'short']);

/** A watch that failed for a reason of its own. Its message never quotes an object. */
export class WatchError extends Error {
  readonly fault: WatchFault;

  constructor(fault: WatchFault, message: string) {
    super(message);
    this.name = 'WatchError';
    this.fault = fault;
  }
}

/** The consequences of a failed list or watch for the next one. */
export interface WatchFailure {
  /**
   * Label of the restart's metric, of a small fixed set: a {@link WatchFault}, `broken` for a
   * connection that was cut, `unreachable` for none at all, or the status of the answer.
   */
  readonly reason: string;
  readonly message: string;
  /** The server could not serve: other requests at that time failed, too. */
  readonly outage: boolean;
  /** The resourceVersion is useless: the next watch begins with a new list. */
  readonly relist: boolean;
  /**
   * Whether etcd may have been restored from a backup meanwhile. Then the resourceVersion is
   * compared with the server's before the next watch. False if the server answered that it is
   * overloaded, and if nothing was sent.
   */
  readonly doubtful: boolean;
  /** The server cannot stream the list: list it by pages. */
  readonly paged: boolean;
  /** Retry-After in milliseconds, or 0 without one. */
  readonly retryAfter: number;
}

/**
 * Classifies the error that ended a list or a watch.
 *
 * @param listing - whether the list was still incomplete
 */
export function classifyWatchError(error: unknown, listing: boolean): WatchFailure {
  const message = messageOf(error);
  if (!(error instanceof KubeError)) {
    return {
      reason: faultOf(error),
      message,
      outage: false,
      relist: error instanceof WatchError && error.fault === 'disordered',
      doubtful: !(error instanceof WatchError && ASSURED.has(error.fault)),
      paged: false,
      retryAfter: 0,
    };
  }
  return {
    reason: error.status === 0 ? faultOf(error.cause, 'unreachable') : String(error.status),
    message,
    outage: error.status === 0 || error.status >= 500,
    relist: isExpired(error),
    doubtful: error.status !== 429,
    // The server does not know sendInitialEvents, or its feature gate is off.
    paged: listing && (error.status === 422 || error.status === 400),
    retryAfter: error.retryAfter ?? 0,
  };
}

function faultOf(error: unknown, otherwise = 'broken'): string {
  if (error instanceof WatchError) return error.fault;
  return error instanceof SyntaxError ? 'malformed' : otherwise;
}

/**
 * Reports whether a list is needed. 410: etcd has compacted the version. ResourceVersionTooLarge:
 * the version is ahead of the server, as after a restore of etcd from a backup, and stays so until
 * etcd reaches it again.
 */
function isExpired({ status, reason, causes }: KubeError): boolean {
  return (
    status === 410 ||
    reason === 'Expired' ||
    causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')
  );
}
