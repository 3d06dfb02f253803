// SPDX-License-Identifier: Apache-2.0
import type { Answer } from '../acme/answer.ts';
import { revokeCertificate } from '../acme/certificates.ts';
import { deactivateAuthorization } from '../acme/orders.ts';
import { getRenewalWindow } from '../acme/renewal-info.ts';
import type { Authorization } from '../acme/resources.ts';
import type { RenewalAnswer } from '../acme-orders/renewal.ts';
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

/**
 * Asks the CA when a certificate is best renewed.
 *
 * @param id - RFC 9773 id of the certificate
 */
export function askRenewal({ server }: AcmeSession, id: string): Promise<RenewalAnswer> {
  return getRenewalWindow(server, id);
}

/** Gives up an authorization that no Order needs any more. Asking twice does no harm. */
export function giveUpAuthorization(
  { server, account }: AcmeSession,
  url: string,
): Promise<Answer<Authorization>> {
  return deactivateAuthorization(server, account, url);
}
