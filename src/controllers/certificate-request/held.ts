// SPDX-License-Identifier: Apache-2.0
import { withFailed, type CertificateRequest } from '../../api/certificate-request.ts';
import type { Held } from '../../serving/issuing.ts';
import type { Outcome } from '../../serving/outcome.ts';

/** What becomes of a CertificateRequest that a CA gave no certificate for. */
export interface AfterHeld {
  /** The object for PUT /status that ends it, where it ends. */
  readonly write: CertificateRequest | undefined;
  readonly outcome: Outcome;
}

/**
 * `permanent` ends it; whatever else keeps a CA is waited for: none of ours gives a request up.
 *
 * @param now - milliseconds, the API server's
 * @param ahead - how far our own clock, by which is waited, is ahead of it
 */
export function afterHeld(
  request: CertificateRequest,
  { how, message, afterMs = 0 }: Held,
  { now, ahead }: { readonly now: number; readonly ahead: number },
): AfterHeld {
  const event = (reason: string): NonNullable<Outcome['event']> => ({
    type: 'Warning',
    reason,
    action: 'Sign',
    note: message,
  });
  const waiting = (reason: string, more: Partial<Outcome>): AfterHeld => ({
    write: undefined,
    outcome: { outcome: 'waiting', reason, message, ...more },
  });
  switch (how) {
    case 'permanent': {
      const reason = 'PermanentError';
      return {
        write: withFailed(request, { reason, message }, now),
        outcome: { outcome: 'failed', reason, message, event: event(reason) },
      };
    }
    case 'pending':
      return waiting('Pending', { again: { at: now + ahead + afterMs } });
    case 'issuer':
      return waiting('IssuerError', { again: 'on-change' });
    case 'retry':
      return waiting('SignFailed', { event: event('SignFailed') });
  }
}
