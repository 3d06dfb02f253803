// SPDX-License-Identifier: Apache-2.0
/** Destinations of checkpoints outside the cluster. */
import type { CallLimits, Exchange, HttpCall } from '#base/egress/exchange.ts';
import { quote } from '#base/quote.ts';
import type { StoredLog } from '#ledger/index.ts';
import * as messages from '../messages.ts';

/** A checkpoint to publish. */
export interface OutgoingCheckpoint {
  readonly log: StoredLog;
  readonly size: number;
  /** The signed note. */
  readonly note: string;
}

/**
 * The result of publishing. `contradicted` means that the destination knows another history of the
 * log than its tree has. One of the two was rolled back or rewritten.
 */
export type PublishOutcome =
  | { readonly kind: 'taken'; readonly cosignature?: string }
  | { readonly kind: 'failed' | 'contradicted'; readonly why: string };

/** One destination. */
export interface Destination {
  /** Name in logs, metrics and alerts: `webhook`, `object-store`, `witness/witness.example`. */
  readonly name: string;
  readonly publish: (
    checkpoint: OutgoingCheckpoint,
    signal: AbortSignal,
  ) => Promise<PublishOutcome>;
}

/** Limits of a call. A response is a status, or some cosignatures. */
export const PUBLISH_LIMITS: CallLimits = {
  connectMs: 10_000,
  silenceMs: 15_000,
  totalMs: 30_000,
  maxBytes: 64 * 1024,
};

/** A response of a destination. Callers must quote its text before showing it. */
export interface PlaceAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends one call. On failure it returns the cause without the URL, which can be a credential. */
export async function asked(
  { send }: Pick<Exchange, 'send'>,
  call: HttpCall,
): Promise<PlaceAnswer | string> {
  const answer = await send(call);
  if (!('kind' in answer)) return { status: answer.status, body: answer.body.toString('utf8') };
  return answer.cause === 'redirect' ? messages.REDIRECTS : answer.detail;
}

/** Returns the outcome for a status other than success. */
export function refusedBy({ status, body }: PlaceAnswer): PublishOutcome {
  const words = body.trim() === '' ? '' : `: ${quote(body.trim(), 200)}`;
  return { kind: 'failed', why: messages.httpStatus(status, words) };
}
