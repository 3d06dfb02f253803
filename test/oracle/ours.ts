// SPDX-License-Identifier: Apache-2.0
import { SignerError, attempt } from '#base/errors.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { decodePem, decodePemAll } from '#pki/der/pem.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { decodeRequest, verifyRequest } from '#pki/x509/pkcs10.ts';
import { requestedNames } from '#pki/x509/requested-names.ts';
import { ACCEPTED, PARSED, REFUSED, type ChainParts } from './oracle.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';

/** How far something came with us, on the scale of the oracle, and what stopped it. */
export interface Verdict {
  readonly level: number;
  readonly error?: SignerError;
}

/** Runs steps until one refuses; anything but a SignerError is a fault of ours and thrown on. */
function steps<T>(first: () => T, ...rest: readonly ((value: T) => unknown)[]): Verdict {
  const value = attempt(first);
  if (value instanceof SignerError) return { level: REFUSED, error: value };
  for (const step of rest) {
    const found = attempt(() => step(value));
    if (found instanceof SignerError) return { level: PARSED, error: found };
  }
  return { level: ACCEPTED };
}

/** As a signer takes it: decoded, its signature verified. */
export function ourRequest(der: Uint8Array): Verdict {
  return steps(() => decodeRequest(der), verifyRequest);
}

/** As a signer takes it before its policy looks: its key and its names are checked, too. */
export function ourWholeRequest(der: Uint8Array): Verdict {
  return steps(
    () => decodeRequest(der),
    ({ publicKey }) => checkKey(publicKey),
    verifyRequest,
    requestedNames,
  );
}

export function ourCertificate(der: Uint8Array): Verdict {
  return steps(() => decodeCertificate(der));
}

/** As a signer reads `spec.request`. */
export function ourRequestPem(text: string): Verdict & { readonly der?: Uint8Array } {
  const der = attempt(() => decodePem(text, 'CERTIFICATE REQUEST'));
  return der instanceof SignerError ? { level: REFUSED, error: der } : { level: ACCEPTED, der };
}

/** As the anchors of a bundle are read; of an empty text there is nothing to say. */
export function ourBundlePem(text: string): Verdict & { readonly der?: Uint8Array } {
  const ders = attempt(() => decodePemAll(text, 'CERTIFICATE'));
  if (ders instanceof SignerError) return { level: REFUSED, error: ders };
  return ders.length === 0 ? { level: REFUSED } : { level: ACCEPTED, der: Buffer.concat(ders) };
}

export function ourChain({ leaf, intermediates, roots, now }: ChainParts): Verdict {
  const decode = (ders: readonly Uint8Array[]): readonly Certificate[] =>
    ders.map(decodeCertificate);
  return steps(
    () => ({
      leaf: decodeCertificate(leaf),
      intermediates: decode(intermediates),
      anchors: decode(roots),
      now,
    }),
    verifyPath,
  );
}
