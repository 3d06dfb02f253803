// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import { KubeError } from '../client/kube-error.ts';

/** What can go wrong with a watch itself; what the server responds is a KubeError. */
export type WatchFault =
  /** It closed within a second: something in between cuts it. */
  | 'short'
  /** No complete event for too long: a half-open connection, or bytes that trickle. */
  | 'silent'
  /** It closed in the middle of an event. */
  | 'truncated'
  /** It sent what is no watch event, or is longer than any can be. */
  | 'malformed'
  /** The preflight check failed, and nothing was sent. */
  | 'withheld'
  /** It sent an event older than the one before it: others may have been lost. */
  | 'disordered';

/** Nothing was sent, or the server answered and something in between cuts each watch: no sign of an outage. */
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

/** What a failed list or watch means for the next one. */
export interface WatchFailure {
  /**
   * Label of the restart's metric, of a small fixed set: a {@link WatchFault}, `broken` for a
   * connection that was cut, `unreachable` for none at all, or the status of the answer.
   */
  readonly reason: string;
  readonly message: string;
  /** The server could not serve: other requests at that time failed, too. */
  readonly outage: boolean;
  /** The resourceVersion is of no use: the next watch begins with a new list. */
  readonly relist: boolean;
  /**
   * Meanwhile etcd may have been restored from a backup: the resourceVersion is compared with the server's before the
   * next watch. Not where the server answered and has too much to do, and not where we sent nothing.
   */
  readonly doubtful: boolean;
  /** The server cannot stream the list: it is to be listed by pages. */
  readonly paged: boolean;
  /** Retry-After in milliseconds; 0 without one. */
  readonly retryAfter: number;
}

/**
 * Classifies what ended a list or a watch.
 *
 * @param listing - whether the list was not complete yet
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
 * 410: etcd has compacted it. ResourceVersionTooLarge: it is ahead of the server, as after a restore of etcd from
 * a backup, and stays so until etcd reaches that revision again.
 */
function isExpired({ status, reason, causes }: KubeError): boolean {
  return (
    status === 410 ||
    reason === 'Expired' ||
    causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')
  );
}
