// SPDX-License-Identifier: Apache-2.0
/** Calls the URL of a target: deliveries, and the handshake before them. */
import type { CallLimits, Exchange } from '#base/egress/exchange.ts';
import type { Clock } from '#base/ports.ts';
import { isWeakSecret, readSecrets, signatureFields } from '#base/egress/webhook-signature.ts';
import { field, verdictOf, type CallVerdict } from './verdict.ts';
import * as messages from '../messages.ts';

/** Dependencies of an endpoint. */
export interface EndpointInit {
  readonly url: URL;
  /**
   * Reads the secrets, one a line. It is called for each delivery, because the kubelet replaces the
   * file.
   */
  readonly readSecret: () => Promise<string>;
  /** DNS name in the handshake. Absent for no handshake. */
  readonly origin?: string | undefined;
  readonly exchange: Pick<Exchange, 'send'>;
  readonly clock: Clock;
}

/** The calls to one target. */
export interface TargetEndpoint {
  readonly post: (event: { readonly id: string; readonly body: string }) => Promise<CallVerdict>;
  /** Performs the handshake. `perSecond` is the rate that the target allows. */
  readonly handshake: () => Promise<CallVerdict & { readonly perSecond?: number }>;
}

/** Limits of a call. Only the status counts, so a long response does not fail. */
export const TARGET_LIMITS: CallLimits = {
  connectMs: 5_000,
  silenceMs: 10_000,
  totalMs: 15_000,
  maxBytes: 64 * 1024,
  statusIsEnough: true,
};

const CONTENT_TYPE = 'application/cloudevents+json; charset=utf-8';

/** Returns an endpoint according to Standard Webhooks and the web hooks of CloudEvents. */
export function endpoint({
  url,
  readSecret,
  origin,
  exchange,
  clock,
}: EndpointInit): TargetEndpoint {
  return {
    post: async ({ id, body }) => {
      const text = await readSecret().catch(() => '');
      const secrets = readSecrets(text);
      // A file is empty for a moment while it is overwritten. Nothing is sent unsigned.
      if (secrets.length === 0) return { kind: 'later', why: messages.NO_SECRET };
      if (secrets.some(isWeakSecret))
        return {
          kind: 'later',
          why: messages.WEAK_SECRET,
        };
      const answer = await exchange.send({
        method: 'POST',
        url: url.href,
        body,
        headers: {
          'content-type': CONTENT_TYPE,
          ...signatureFields({ id, at: clock(), body }, secrets),
          ...(origin === undefined ? {} : { origin }),
        },
      });
      return verdictOf(answer, clock());
    },
    handshake: async () => {
      if (origin === undefined) return { kind: 'delivered' };
      const headers = { 'webhook-request-origin': origin };
      const answer = await exchange.send({ method: 'OPTIONS', url: url.href, headers });
      const verdict = verdictOf(answer, clock());
      if ('kind' in answer || verdict.kind === 'gone') return verdict;
      const allowed = field(answer, 'webhook-allowed-origin') ?? '';
      if (allowed !== '*' && allowed.toLowerCase() !== origin.toLowerCase())
        return {
          kind: 'later',
          why: messages.originNotAllowed(origin),
        };
      const rate = /^[1-9]\d{0,8}$/.exec(field(answer, 'webhook-allowed-rate') ?? '')?.[0];
      return { kind: 'delivered', ...(rate === undefined ? {} : { perSecond: Number(rate) / 60 }) };
    },
  };
}
