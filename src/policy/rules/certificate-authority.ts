// SPDX-License-Identifier: Apache-2.0
import type { RefusalRule } from '../refusal.ts';

/** Nothing of it would be copied; but who asks to be a CA must not believe to have become one. */
export const certificateAuthority: RefusalRule = ({ request }) =>
  request.isCa
    ? {
        reason: 'CertificateAuthority',
        message:
          'the request asks to be a CA (basicConstraints with cA TRUE); leaves are never CAs, ask without it',
      }
    : undefined;
