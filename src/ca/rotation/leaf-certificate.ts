// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import { parseDuration } from '#api/object/duration.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { type Certificate, readCertificates } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { publicKeyOf, readPrivateKey } from '#pki/keys/private-key.ts';
import type { LeafCertificate } from './leaf-renewal.ts';
import type { CaChain } from '../issuance/prepare.ts';

/** The contents of a serving certificate's Secret, as PEM. */
export interface LeafMaterial {
  readonly certificate: string;
  readonly key: string;
  /** The annotation with the requested duration of the leaf. */
  readonly duration: string | undefined;
}

/**
 * Returns a serving certificate and its key, or why no server could present them. Ignores its age.
 */
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

/**
 * Reports whether the CA signed the leaf. A CA of the same name with another key does not count.
 */
function isSignedBy(leaf: Certificate, by: Certificate): boolean {
  // Validity is checked elsewhere, so this verifies at a time when both are valid.
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
