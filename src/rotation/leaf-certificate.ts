// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '../bytes.ts';
import { parseDuration } from '../api/object/duration.ts';
import { SignerError, attempt } from '../errors.ts';
import { type Certificate, readCertificates } from '../pki/x509/certificate.ts';
import { verifyPath } from '../pki/x509/path.ts';
import { publicKeyOf, readPrivateKey } from '../pki/keys/private-key.ts';
import type { LeafCertificate } from './leaf-renewal.ts';
import type { CaChain } from '../issuance/prepare.ts';

/** What a Secret holds of a serving certificate; texts are PEM. */
export interface LeafMaterial {
  readonly certificate: string;
  readonly key: string;
  /** Its annotation, what the leaf was made for. */
  readonly duration: string | undefined;
}

/** A serving certificate and its key, or why no server could show them. Its age is not looked at. */
export function leafCertificateOf(
  material: LeafMaterial,
  issuer: CaChain,
): LeafCertificate | SignerError {
  if (material.certificate === '' && material.key === '') return unusable('there is none yet');
  const read = attempt(() => readLeaf(material));
  if (read instanceof SignerError) return unusable(read.message);
  const [leaf, ...above] = read;
  const duration = attempt(() => parseDuration(material.duration ?? ''));
  return {
    notBefore: leaf.notBefore,
    notAfter: leaf.notAfter,
    durationSeconds: duration instanceof SignerError ? undefined : duration,
    keyType: leaf.publicKey.keyType,
    dnsNames: leaf.sans.dnsNames,
    isOfPresent: isSameChain(above, issuer.intermediates) && isSignedBy(leaf, issuer.certificate),
  };
}

function readLeaf({ certificate, key }: LeafMaterial): readonly [Certificate, ...Certificate[]] {
  const [leaf, ...above] = readCertificates(certificate);
  if (leaf === undefined) throw unusable('tls.crt holds no certificate');
  if (leaf.isCa) throw unusable('tls.crt begins with a CA, which no server should show as its own');
  if (!sameBytes(publicKeyOf(readPrivateKey(key)), leaf.publicKey.spki)) {
    throw unusable('tls.key is not the key of tls.crt');
  }
  return [leaf, ...above];
}

/** Also what was signed by a CA of the same name and another key is another's. */
function isSignedBy(leaf: Certificate, by: Certificate): boolean {
  // Whether it is valid is another question, so it is asked for a moment when it is.
  const path = {
    leaf,
    intermediates: [],
    anchors: [by],
    now: Math.max(leaf.notBefore, by.notBefore),
  };
  return !(attempt(() => verifyPath(path)) instanceof SignerError);
}

function isSameChain(a: readonly Certificate[], b: readonly Certificate[]): boolean {
  return a.length === b.length && a.every(({ raw }, at) => sameBytes(raw, b[at]?.raw));
}

function unusable(message: string): SignerError {
  return new SignerError({ code: 'CERTIFICATE_MALFORMED', disposition: 'wait', message });
}
