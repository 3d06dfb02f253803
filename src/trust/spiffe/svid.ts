// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import { OID_CLIENT_AUTH, OID_KEY_USAGE, OID_SERVER_AUTH } from '#pki/der/oids.ts';
import { canonicalSpiffeId } from '#pki/names/spiffe-id.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import * as messages from './messages.ts';

/**
 * Returns why a certificate is not a leaf X509-SVID (X509-SVID §2, §3.1, §4.1, §4.3, §4.4, §5.2).
 * Does not verify its chain.
 *
 * @returns undefined if it is a leaf X509-SVID
 */
export function svidFault(certificate: Certificate): string | undefined {
  const { sans, isCa } = certificate;
  if (sans.uris.length !== 1) return messages.uriCount(sans.uris.length);
  if (isCa) return messages.IS_A_CA;
  return idFault(sans.uris[0] ?? '') ?? usageFault(certificate);
}

function usageFault({ keyUsage, extKeyUsage, extensions }: Certificate): string | undefined {
  const isCritical = extensions.some(({ oid, critical }) => oid === OID_KEY_USAGE && critical);
  if (keyUsage === undefined || !isCritical) return messages.NO_CRITICAL_KEY_USAGE;
  if (!keyUsage.has('digitalSignature')) return messages.NO_DIGITAL_SIGNATURE;
  if (keyUsage.has('keyCertSign') || keyUsage.has('cRLSign'))
    return messages.SIGNS_CERTIFICATES_OR_CRLS;
  const purposes = extKeyUsage ?? BOTH;
  return BOTH.every((each) => purposes.includes(each)) ? undefined : messages.WRONG_EXTENDED_USAGE;
}

const BOTH = [OID_SERVER_AUTH, OID_CLIENT_AUTH];

function idFault(uri: string): string | undefined {
  if (!uri.startsWith('spiffe:')) return messages.notASpiffeId(uri);
  const canonical = attempt(() => canonicalSpiffeId(uri, uri.slice('spiffe:'.length)));
  if (canonical instanceof SignerError) return canonical.message;
  if (canonical !== uri) return messages.notCanonical(uri, canonical);
  if (!/^spiffe:\/\/[^/]+\/./.test(uri)) return messages.withoutPath(uri);
  return undefined;
}
