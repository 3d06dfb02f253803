// SPDX-License-Identifier: Apache-2.0
/** One place that events are POSTed to: how a call looks, and whether it wants any. */
import type { CallLimits, Exchange } from '../../../acme/exchange.ts';
import type { Clock } from '../../../ports.ts';
import { isWeakSecret, readSecrets, signatureFields } from '../../../webhooks/signature.ts';
import { field, verdictOf, type CallVerdict } from './verdict.ts';

/** What a target is called with. */
export interface EndpointInit {
  readonly url: URL;
  /** Read for each call: the kubelet replaces it. One secret a line. */
  readonly readSecret: () => Promise<string>;
  /** Who asks whether events are wanted: a DNS name; absent: nobody asks. */
  readonly origin?: string | undefined;
  readonly exchange: Pick<Exchange, 'send'>;
  readonly clock: Clock;
}

/** Calls one place. */
export interface TargetEndpoint {
  readonly post: (event: { readonly id: string; readonly body: string }) => Promise<CallVerdict>;
  /** Asks whether it wants events, once; `perSecond` is what it allows. */
  readonly ask: () => Promise<CallVerdict & { readonly perSecond?: number }>;
}

/** An answer is a status: a long one was taken as well as a short one. */
export const TARGET_LIMITS: CallLimits = {
  connectMs: 5_000,
  silenceMs: 10_000,
  totalMs: 15_000,
  maxBytes: 64 * 1024,
  statusIsEnough: true,
};

const CONTENT_TYPE = 'application/cloudevents+json; charset=utf-8';

/** A place as Standard Webhooks and the web hooks of CloudEvents call it. */
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
      // A file that is written in place is empty for a moment: nothing is sent without a signature.
      if (secrets.length === 0)
        return { kind: 'later', why: 'the file of its secret is missing or empty' };
      if (secrets.some(isWeakSecret))
        return {
          kind: 'later',
          why: 'a secret of it has fewer than 24 bytes: write whsec_ and the base64 of 32 random bytes',
        };
      const answer = await exchange.send({
        ...{ method: 'POST', url: url.href, body },
        headers: {
          'content-type': CONTENT_TYPE,
          ...signatureFields({ id, at: clock(), body }, secrets),
          ...(origin === undefined ? {} : { origin }),
        },
      });
      return verdictOf(answer, clock());
    },
    ask: async () => {
      if (origin === undefined) return { kind: 'delivered' };
      const headers = { 'webhook-request-origin': origin };
      const answer = await exchange.send({ method: 'OPTIONS', url: url.href, headers });
      const verdict = verdictOf(answer, clock());
      if ('kind' in answer || verdict.kind === 'gone') return verdict;
      const allowed = field(answer, 'webhook-allowed-origin') ?? '';
      if (allowed !== '*' && allowed.toLowerCase() !== origin.toLowerCase())
        return {
          kind: 'later',
          why: `it does not allow events of ${origin} (WebHook-Allowed-Origin)`,
        };
      const rate = /^[1-9]\d{0,8}$/.exec(field(answer, 'webhook-allowed-rate') ?? '')?.[0];
      return { kind: 'delivered', ...(rate === undefined ? {} : { perSecond: Number(rate) / 60 }) };
    },
  };
}
