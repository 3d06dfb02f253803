// SPDX-License-Identifier: Apache-2.0
import type { CertificationRequest } from '../pki/x509/pkcs10.ts';
import { decodeSpec } from './decode.ts';
import type { RefusalInput } from './refusal.ts';
import { refusals } from './refusals.ts';

export type Admitted =
  | { readonly kind: 'admitted'; readonly request: CertificationRequest }
  /** In the words of a condition: the gravest reason, and what all of them say. */
  | { readonly kind: 'fail'; readonly reason: string; readonly message: string };

/** Whether a request can become a leaf at all: it is decoded, and no hard refusal stands against it. */
export function admit(input: Omit<RefusalInput, 'request'>): Admitted {
  const decoded = decodeSpec(input.csr);
  if (decoded.kind === 'refused') return { kind: 'fail', ...decoded.refusal };
  const { request } = decoded;
  const found = refusals({ ...input, request });
  const [first] = found;
  if (first === undefined) return { kind: 'admitted', request };
  const message = found.map((each) => each.message).join('; ');
  return { kind: 'fail', reason: first.reason, message };
}
