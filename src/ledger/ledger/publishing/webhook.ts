// SPDX-License-Identifier: Apache-2.0
/**
 * A webhook for checkpoints, signed according to Standard Webhooks (standardwebhooks.com,
 * symmetric).
 */
import { createHash } from 'node:crypto';
import type { Exchange } from '#base/egress/exchange.ts';
import type { Clock } from '#base/ports.ts';
import { readSecrets, signatureFields } from '#base/egress/webhook-signature.ts';
import { asked, refusedBy, type Destination } from './destination.ts';
import * as messages from '../messages.ts';

/** Address and secrets of the webhook. */
export interface WebhookInit {
  readonly url: URL;
  /**
   * Reads the secrets, one a line; two sign during a rotation. It is called for each POST, because
   * the kubelet replaces the file. If absent, only the note itself is signed.
   */
  readonly readSecret: (() => Promise<string>) | undefined;
  readonly exchange: Pick<Exchange, 'send'>;
  readonly clock: Clock;
}

/**
 * Returns a destination that POSTs each note. Each attempt for a checkpoint has the same
 * `webhook-id`.
 */
export function webhook({ url, readSecret, exchange, clock }: WebhookInit): Destination {
  return {
    name: 'webhook',
    publish: async ({ log, size, note }, signal) => {
      const id = `checkpoint_${createHash('sha256').update(`${log.origin}\n${size}`).digest('hex')}`;
      const secret = await readSecret?.();
      const signed = { id, at: clock(), body: note };
      // A file is empty for a moment while it is overwritten. Nothing is sent unsigned then.
      const secrets = secret === undefined ? [] : readSecrets(secret);
      if (secret !== undefined && secrets.length === 0)
        return { kind: 'failed', why: messages.EMPTY_SECRET };
      const answer = await asked(exchange, {
        method: 'POST',
        url: url.href,
        body: note,
        signal,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          ...signatureFields(signed, secrets),
        },
      });
      if (typeof answer === 'string') return { kind: 'failed', why: answer };
      return answer.status < 300 ? { kind: 'taken' } : refusedBy(answer);
    },
  };
}
