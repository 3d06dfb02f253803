// SPDX-License-Identifier: Apache-2.0
/** A webhook that takes checkpoints, signed as Standard Webhooks has it (standardwebhooks.com, symmetric). */
import { createHash, createHmac } from 'node:crypto';
import type { Exchange } from '../../../acme/exchange.ts';
import type { Clock } from '../../../ports.ts';
import { asked, refusedBy, type Destination } from './destination.ts';

/** Where it is, and how it knows us. */
export interface WebhookInit {
  readonly url: URL;
  /** Absent: what is sent is not signed, but for the note itself. Read for each call: the kubelet replaces it. */
  readonly readSecret: (() => Promise<string>) | undefined;
  readonly exchange: Pick<Exchange, 'send'>;
  readonly clock: Clock;
}

const SECRET_PREFIX = 'whsec_';

/** POSTs each note. The same checkpoint has the same `webhook-id`, however often it is sent. */
export function webhook({ url, readSecret, exchange, clock }: WebhookInit): Destination {
  return {
    name: 'webhook',
    publish: async ({ log, size, note }, signal) => {
      const id = `checkpoint_${createHash('sha256').update(`${log.origin}\n${size}`).digest('hex')}`;
      const timestamp = String(Math.floor(clock() / 1000));
      const secret = await readSecret?.();
      const signature =
        secret === undefined
          ? {}
          : { 'webhook-signature': signatureOf(secret, `${id}.${timestamp}.${note}`) };
      const answer = await asked(exchange, {
        ...{ method: 'POST', url: url.href, body: note, signal },
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          ...{ 'webhook-id': id, 'webhook-timestamp': timestamp },
          ...signature,
        },
      });
      if (typeof answer === 'string') return { kind: 'failed', why: answer };
      return answer.status < 300 ? { kind: 'taken' } : refusedBy(answer);
    },
  };
}

/** `v1,` and the HMAC-SHA256 in base64. A secret is base64 after `whsec_`; without that its bytes are the key. */
function signatureOf(secret: string, signed: string): string {
  const text = secret.trim();
  const key = text.startsWith(SECRET_PREFIX)
    ? Buffer.from(text.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(text);
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
