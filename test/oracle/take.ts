// SPDX-License-Identifier: Apache-2.0
import { decodeCertificate } from '../../src/pki/certificate.ts';
import { SignerError, attempt } from '../../src/errors.ts';
import type { Case } from './corpus/case.ts';
import { ourRequestPem, ourWholeRequest } from './ours.ts';

/** Takes a file in as far as we do; the message of what refuses it, or undefined. */
export function take(kind: Case['kind'], bytes: Uint8Array): string | undefined {
  if (kind === 'request') return ourWholeRequest(bytes).error?.message;
  if (kind === 'certificate') {
    const found = attempt(() => decodeCertificate(bytes));
    return found instanceof SignerError ? found.message : undefined;
  }
  const { der, error } = ourRequestPem(Buffer.from(bytes).toString('latin1'));
  return der === undefined ? error?.message : ourWholeRequest(der).error?.message;
}
