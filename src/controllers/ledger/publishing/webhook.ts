// SPDX-License-Identifier: Apache-2.0
/** A webhook that takes checkpoints, signed as Standard Webhooks has it (standardwebhooks.com, symmetric). */
import { createHash } from 'node:crypto';
import type { Exchange } from '../../../acme/exchange.ts';
import type { Clock } from '../../../ports.ts';
import { readSecrets, signatureFields } from '../../../webhooks/signature.ts';
import { asked, refusedBy, type Destination } from './destination.ts';

/** Where it is, and how it knows us. */
export interface WebhookInit {
  readonly url: URL;
  /**
   * One secret a line: two sign during a rotation. Absent: what is sent is not signed, but for the note itself. Read for each
   * call: the kubelet replaces it.
   */
  readonly readSecret: (() => Promise<string>) | undefined;
  readonly exchange: Pick<Exchange, 'send'>;
  readonly clock: Clock;
}

/** POSTs each note. The same checkpoint has the same `webhook-id`, however often it is sent. */
export function webhook({ url, readSecret, exchange, clock }: WebhookInit): Destination {
  return {
    name: 'webhook',
    publish: async ({ log, size, note }, signal) => {
      const id = `checkpoint_${createHash('sha256').update(`${log.origin}\n${size}`).digest('hex')}`;
      const secret = await readSecret?.();
      const signed = { id, at: clock(), body: note };
      // A file that is written in place is empty for a moment: what must be signed is not sent without.
      const secrets = secret === undefined ? [] : readSecrets(secret);
      if (secret !== undefined && secrets.length === 0)
        return { kind: 'failed', why: 'the file of its secret is empty' };
      const answer = await asked(exchange, {
        ...{ method: 'POST', url: url.href, body: note, signal },
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
