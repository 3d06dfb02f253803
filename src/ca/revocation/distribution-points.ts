// SPDX-License-Identifier: Apache-2.0
import type { ProfileSpec } from '#api/signer/cluster-signer.ts';

/** The place of the CA's fingerprint in a URL of `profile.crl.urls`. */
const PLACE = '{authority}';

/** Returns the digits of `sha256:<hex>`, which name a CA's CRL in ConfigMaps and URLs. */
export function hexOf(fingerprint: string): string {
  return fingerprint.slice(fingerprint.indexOf(':') + 1);
}

/**
 * Returns the URLs of one CA's CRL. Each CA has a list of its own, so its URL names the CA.
 *
 * @param fingerprint - `sha256:<hex>` of the CA's certificate
 * @returns undefined if the profile names no URL
 */
export function distributionPoints(
  { crl }: Pick<ProfileSpec, 'crl'>,
  fingerprint: string,
): readonly string[] | undefined {
  return crl?.urls?.map((url) => url.replaceAll(PLACE, hexOf(fingerprint)));
}
