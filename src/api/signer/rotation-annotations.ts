// SPDX-License-Identifier: Apache-2.0
/** Annotations of rotation: those by which an operator requests it, and those that store its state. */

/**
 * On a ClusterSigner, RFC 3339: at this time, a CA that began to sign earlier is replaced. A CA that began
 * to sign later is not, so you need not remove the annotation.
 */
export const ROTATE_AT = 'countersign.dev/rotate-at';

/**
 * On a ClusterSigner, RFC 3339: at this time, a CA that was created earlier gets a successor, which is
 * published but does not sign until a rotation is due.
 */
export const PREPARE_AT = 'countersign.dev/prepare-at';

/** On a managed CA's Secret, Go duration: the `spec` duration that its Active CA was created with. */
export const DURATION = 'countersign.dev/duration';

/** The same for the Prepared CA, `next.crt`. */
export const NEXT_DURATION = 'countersign.dev/next-duration';

/** On a managed CA's Secret, RFC 3339 with milliseconds: when its Active CA became Active. */
export const ACTIVATED_AT = 'countersign.dev/activated-at';

/**
 * On a CA's Secret, `sha256:<hex>`: this CA signs as soon as its anchor is published, because its
 * predecessor is distrusted. A value that is not the fingerprint of `tls.crt` is ignored.
 */
export const SIGNS_AT_ONCE = 'countersign.dev/signs-at-once';

/** On a managed CA's Secret: the Prepared CA, its certificate and its key (PEM). */
export const NEXT_CERTIFICATE = 'next.crt';
export const NEXT_KEY = 'next.key';

/**
 * On a managed CA's Secret (PEM), for `crossSigned`: the cross-certificate of the Active CA's key by its
 * predecessor, then the predecessor's certificate. Anything else in it is ignored.
 */
export const CROSS_CERTIFICATE = 'cross.crt';

/**
 * On a managed CA's Secret, JSON `[{"issuer": "sha256:…", "subject": "sha256:…", "notAfter": "RFC 3339"}, …]`:
 * the cross-certificates that exist and have not expired. It restores a ClusterSigner's status if that
 * was lost.
 */
export const CROSS_CERTIFICATES = 'countersign.dev/cross-certificates';

/** The name of a key of a Secret that holds something of one CA. */
interface KeyName {
  /** @param id - the first digits of the CA's fingerprint */
  readonly of: (id: string) => string;
  /** The id in a key of this kind; undefined for any other key. */
  readonly idOf: (key: string) => string | undefined;
}

const RETIRED_ID_DIGITS = 16;

function keyName(suffix: string): KeyName {
  const pattern = new RegExp(`^retired-([0-9a-f]{${RETIRED_ID_DIGITS}})\\.${suffix}$`);
  return {
    of: (id) => `retired-${id}.${suffix}`,
    idOf: (key) => pattern.exec(key)?.[1],
  };
}

/** On a CA's Secret, `retired-<id>.crt`: PEM of the certificate of a CA that retired. */
export const RETIRED_CERTIFICATE = keyName('crt');

/** `retired-<id>.key`: its private key, with which its CRLs are signed. */
export const RETIRED_KEY = keyName('key');

/**
 * On a managed CA's Secret, RFC 3339: until when the key of a CA that retired is kept at least, should the status be
 * lost.
 *
 * @param id - the first digits of the CA's fingerprint
 */
export function retiredUntil(id: string): string {
  return `countersign.dev/retired-${id}`;
}

/** The id of a CA in {@link RETIRED_CERTIFICATE}, {@link RETIRED_KEY} and {@link retiredUntil}. */
export function retiredId(fingerprint: string): string {
  return fingerprint.slice('sha256:'.length, 'sha256:'.length + RETIRED_ID_DIGITS);
}
