// SPDX-License-Identifier: Apache-2.0
/** Places outside the cluster that take checkpoints. */
import type { CallLimits, Exchange, HttpCall } from '../../../acme/exchange.ts';
import { quote } from '../../../quote.ts';
import type { StoredLog } from '../../../ledger/index.ts';

/** A checkpoint that is to leave the cluster. */
export interface OutgoingCheckpoint {
  readonly log: StoredLog;
  readonly size: number;
  /** The signed note. */
  readonly note: string;
}

/**
 * What came of it. `contradicted`: the place knows another past of the log than its tree has, so one of the two was
 * rolled back or rewritten.
 */
export type PublishOutcome =
  | { readonly kind: 'taken'; readonly cosignature?: string }
  | { readonly kind: 'failed' | 'contradicted'; readonly why: string };

/** One place. */
export interface Destination {
  /** As logs, metrics and alerts call it: `webhook`, `object-store`, `witness/witness.example`. */
  readonly name: string;
  readonly publish: (
    checkpoint: OutgoingCheckpoint,
    signal: AbortSignal,
  ) => Promise<PublishOutcome>;
}

/** An answer is a status, or some cosignatures. */
export const PUBLISH_LIMITS: CallLimits = {
  connectMs: 10_000,
  silenceMs: 15_000,
  totalMs: 30_000,
  maxBytes: 64 * 1024,
};

/** An answer of a place; its words are quoted where people read them. */
export interface PlaceAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends one call. Returns why there is no answer, without the URL: it can be a credential. */
export async function asked(
  { send }: Pick<Exchange, 'send'>,
  call: HttpCall,
): Promise<PlaceAnswer | string> {
  const answer = await send(call);
  if (!('kind' in answer)) return { status: answer.status, body: answer.body.toString('utf8') };
  return answer.cause === 'redirect' ? 'it redirects: name the address itself' : answer.detail;
}

/** What a status other than success says. */
export function refusedBy({ status, body }: PlaceAnswer): PublishOutcome {
  const words = body.trim() === '' ? '' : `: ${quote(body.trim(), 200)}`;
  return { kind: 'failed', why: `it answers ${status}${words}` };
}
