// SPDX-License-Identifier: Apache-2.0
/**
 * The ClusterTrustBundle of a foreign trust domain: its name and annotations. It names no signer.
 */
import { SignerError } from '#base/errors.ts';

/** The trust domain whose X509-SVIDs the bundle verifies. It verifies no others. */
export const TRUST_DOMAIN = 'countersign.dev/trust-domain';

/** `spiffe_sequence` of the SPIFFE bundle behind it. */
export const SPIFFE_SEQUENCE = 'countersign.dev/spiffe-sequence';

/**
 * RFC 3339: time of the last confirmation by its endpoint. `federation` updates it after an eighth
 * of the time that a bundle is kept without confirmation.
 */
export const FETCHED_AT = 'countersign.dev/fetched-at';

const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;

/** Returns the name of a foreign trust domain's ClusterTrustBundle: `federated.partner.example`. */
export function federatedBundleName(trustDomain: string): string {
  return `federated.${trustDomain}`;
}

/**
 * Checks that a ClusterTrustBundle can have the name of a trust domain. Trust domains may have
 * underscores.
 *
 * @throws SignerError NAME_INVALID
 */
export function checkFederatedDomain(trustDomain: string): void {
  const name = federatedBundleName(trustDomain);
  if (OBJECT_NAME.test(name) && name.length <= MAX_NAME) return;
  throw new SignerError({
    code: 'NAME_INVALID',
    disposition: 'fail',
    message: `no ClusterTrustBundle can have the name ${JSON.stringify(name.slice(0, 100))}; write the trust domain in lower case, without underscores and spiffe://, such as partner.example`,
  });
}
