// SPDX-License-Identifier: Apache-2.0
import type { Answer } from '../protocol/answer.ts';
import { revokeCertificate } from '../protocol/certificates.ts';
import { deactivateAuthorization } from '../protocol/orders.ts';
import { getRenewalWindow } from '../protocol/renewal-info.ts';
import type { Authorization } from '../protocol/resources.ts';
import type { RenewalAnswer } from '../orders/renewal.ts';
import {
  afterRevocation,
  codeOfReason,
  type RevocationBefore,
  type OrderRevocation,
} from '../orders/revocation.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import type { AcmeSession } from './session.ts';

/**
 * Requests the revocation of a certificate with the account that ordered it. A second request is
 * harmless.
 */
export async function revokeIssued(
  { server, account }: AcmeSession,
  leaf: Pick<Certificate, 'raw'>,
  before: RevocationBefore,
): Promise<OrderRevocation> {
  const code = codeOfReason(before.asked);
  return afterRevocation(before, await revokeCertificate(server, account, leaf.raw, code));
}

/**
 * Requests the suggested renewal window of a certificate.
 *
 * @param id - RFC 9773 id of the certificate
 */
export function askRenewal({ server }: AcmeSession, id: string): Promise<RenewalAnswer> {
  return getRenewalWindow(server, id);
}

/** Deactivates an authorization that no Order needs. A second call is harmless. */
export function giveUpAuthorization(
  { server, account }: AcmeSession,
  url: string,
): Promise<Answer<Authorization>> {
  return deactivateAuthorization(server, account, url);
}
