// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '../errors.ts';
import { OID_CLIENT_AUTH, OID_KEY_USAGE, OID_SERVER_AUTH } from '../pki/der/oids.ts';
import { canonicalSpiffeId } from '../pki/names/spiffe-id.ts';
import type { Certificate } from '../pki/x509/certificate.ts';
import { quote } from '../quote.ts';

/**
 * What keeps a certificate from being a leaf X509-SVID (X509-SVID §2, §3.1, §4.1, §4.3, §4.4, §5.2). Whether its chain is
 * valid is another question.
 *
 * @returns undefined where it is one
 */
export function svidFault(certificate: Certificate): string | undefined {
  const { sans, isCa } = certificate;
  if (sans.uris.length !== 1) return `it has ${sans.uris.length} URI names, not one`;
  if (isCa) return 'it is a CA certificate';
  return idFault(sans.uris[0] ?? '') ?? usageFault(certificate);
}

function usageFault({ keyUsage, extKeyUsage, extensions }: Certificate): string | undefined {
  const isCritical = extensions.some(({ oid, critical }) => oid === OID_KEY_USAGE && critical);
  if (keyUsage === undefined || !isCritical) return 'it has no critical key usage';
  if (!keyUsage.has('digitalSignature')) return 'its key usage lacks digitalSignature';
  if (keyUsage.has('keyCertSign') || keyUsage.has('cRLSign'))
    return 'its key usage has keyCertSign or cRLSign';
  const purposes = extKeyUsage ?? BOTH;
  return BOTH.every((each) => purposes.includes(each))
    ? undefined
    : 'its extended key usage lacks serverAuth or clientAuth';
}

const BOTH = [OID_SERVER_AUTH, OID_CLIENT_AUTH];

function idFault(uri: string): string | undefined {
  if (!uri.startsWith('spiffe:')) return `${quote(uri, 80)} is not a SPIFFE ID`;
  const canonical = attempt(() => canonicalSpiffeId(uri, uri.slice('spiffe:'.length)));
  if (canonical instanceof SignerError) return canonical.message;
  if (canonical !== uri) return `${quote(uri, 80)} is not written as ${canonical}`;
  if (!/^spiffe:\/\/[^/]+\/./.test(uri)) return `${uri} has no path`;
  return undefined;
}
