// SPDX-License-Identifier: Apache-2.0
import { revokeCertificate } from '../acme/certificates.ts';
import {
  afterRevocation,
  codeOfReason,
  type RevocationBefore,
  type RevocationRecord,
} from '../acme-orders/revocation.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import type { AcmeSession } from './session.ts';

/** Asks the CA to revoke a certificate, in the name of the account that ordered it. Asking twice does no harm. */
export async function revokeIssued(
  { server, account }: AcmeSession,
  leaf: Pick<Certificate, 'raw'>,
  before: RevocationBefore,
): Promise<RevocationRecord> {
  const code = codeOfReason(before.asked);
  return afterRevocation(before, await revokeCertificate(server, account, leaf.raw, code));
}
