// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import { KubeError } from '../client/kube-error.ts';

/** What a watch itself can suffer; what the server answers is a KubeError. */
export type WatchFault =
  /** It ended within a second: something in between cuts it. */
  | 'short'
  /** No whole line for too long: a half-open connection, or bytes that trickle. */
  | 'silent'
  /** It ended in the middle of a line. */
  | 'truncated'
  /** A line that is no watch event, or longer than any can be. */
  | 'malformed'
  /** We know that we may not, and did not ask. */
  | 'withheld'
  /** An event that is older than one before it: perhaps others never came. */
  | 'disordered';

export class WatchError extends Error {
  readonly fault: WatchFault;

  constructor(fault: WatchFault, message: string) {
    super(message);
    this.name = 'WatchTrouble';
    this.fault = fault;
  }
}

/** What a broken list or watch means for the next one. */
export interface WatchFailure {
  /**
   * Label of the restart's metric, of a small fixed set: a {@link WatchFault}, `broken` for a
   * connection that was cut, `unreachable` for none at all, or the status of the answer.
   */
  readonly reason: string;
  readonly message: string;
  /** The server could not serve: whatever else was asked of it meanwhile will have failed too. */
  readonly outage: boolean;
  /** Our resourceVersion is of no use: list anew. */
  readonly relist: boolean;
  /** The server cannot stream the list: page it. */
  readonly paged: boolean;
  /** Milliseconds that the server asks us to stay away. */
  readonly retryAfter: number;
}

/** @param listing - the error came while the list was streamed */
export function classifyWatchError(error: unknown, listing: boolean): WatchFailure {
  const message = messageOf(error);
  if (!(error instanceof KubeError)) {
    return {
      reason: faultOf(error),
      message,
      outage: false,
      relist: error instanceof WatchError && error.fault === 'disordered',
      paged: false,
      retryAfter: 0,
    };
  }
  return {
    reason: error.status === 0 ? faultOf(error.cause, 'unreachable') : String(error.status),
    message,
    outage: error.status === 0 || error.status >= 500,
    relist: isExpired(error),
    // sendInitialEvents is not known there, or its feature gate is off.
    paged: listing && (error.status === 422 || error.status === 400),
    retryAfter: error.retryAfter ?? 0,
  };
}

function faultOf(error: unknown, otherwise = 'broken'): string {
  if (error instanceof WatchError) return error.fault;
  return error instanceof SyntaxError ? 'malformed' : otherwise;
}

/**
 * 410: compacted away. ResourceVersionTooLarge: ahead of the server, as after a restore of etcd from
 * a backup; it would be so until the old revision is reached again.
 */
function isExpired({ status, reason, causes }: KubeError): boolean {
  return (
    status === 410 ||
    reason === 'Expired' ||
    causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')
  );
}
