// SPDX-License-Identifier: Apache-2.0
/**
 * Annotations of rotation: those by which an operator requests it, and those that store its state.
 */

/**
 * On a ClusterSigner, RFC 3339: time at which `authority` replaces a CA that began to sign earlier.
 * It does not replace a CA that began later, so you need not remove the annotation.
 */
export const ROTATE_AT = 'countersign.dev/rotate-at';

/**
 * On a ClusterSigner, RFC 3339: time at which a CA that was created earlier gets a successor. The
 * successor is published but does not sign until a rotation is due.
 */
export const PREPARE_AT = 'countersign.dev/prepare-at';

/** On a managed CA's Secret, Go duration: the `spec` duration at the creation of its Active CA. */
export const DURATION = 'countersign.dev/duration';

/** The same for the Prepared CA, `next.crt`. */
export const NEXT_DURATION = 'countersign.dev/next-duration';

/**
 * On a managed CA's Secret, RFC 3339 with milliseconds: time at which its Active CA became Active.
 */
export const ACTIVATED_AT = 'countersign.dev/activated-at';

/**
 * On a CA's Secret, `sha256:<hex>`: this CA signs as soon as its anchor is published, because its
 * predecessor is distrusted. A value other than the fingerprint of `tls.crt` is ignored.
 */
export const SIGNS_AT_ONCE = 'countersign.dev/signs-at-once';

/** On a managed CA's Secret: the Prepared CA, its certificate and its key (PEM). */
export const NEXT_CERTIFICATE = 'next.crt';
export const NEXT_KEY = 'next.key';

/** The trust anchor of the Prepared CA, if an upstream CA signed it. */
export const NEXT_ANCHOR = 'next-ca.crt';

/**
 * On a managed CA's Secret (PEM), for `upstream`: the key that waits for its certificate, and its
 * PKCS#10 request.
 */
export const PENDING_KEY = 'pending.key';
export const PENDING_REQUEST = 'pending.csr';

/** On a managed CA's Secret, RFC 3339: time at which the key in `pending.key` was created. */
export const REQUESTED_AT = 'countersign.dev/requested-at';

/** On a managed CA's Secret: number of keys since the upstream CA last signed one, this one too. */
export const REQUEST_ATTEMPTS = 'countersign.dev/request-attempts';

/**
 * On a managed CA's Secret, RFC 3339: time at which the chain of its Active CA was installed, if an
 * upstream CA signed it.
 */
export const INSTALLED_AT = 'countersign.dev/installed-at';

/** The same for the Prepared CA, `next.crt`. */
export const NEXT_INSTALLED_AT = 'countersign.dev/next-installed-at';

/**
 * On a managed CA's Secret (PEM), for `crossSigned`: the cross-certificate of the Active CA's key
 * by its predecessor, then the predecessor's certificate. Anything else in it is ignored.
 */
export const CROSS_CERTIFICATE = 'cross.crt';

/**
 * On a managed CA's Secret, JSON
 * `[{"issuer": "sha256:…", "subject": "sha256:…", "notAfter": "RFC 3339"}, …]`: the
 * cross-certificates that exist and have not expired. It restores a lost status of a ClusterSigner.
 */
export const CROSS_CERTIFICATES = 'countersign.dev/cross-certificates';

/** The name of a Secret key that belongs to one CA. */
interface KeyName {
  /** @param id - the first digits of the CA's fingerprint */
  readonly of: (id: string) => string;
  /** Returns the id in a key of this kind, or undefined for any other key. */
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

/** `retired-<id>.key`: its private key, which signs its CRLs. */
export const RETIRED_KEY = keyName('key');

/**
 * Returns the annotation on a managed CA's Secret, RFC 3339: time until which the key of a retired
 * CA is kept at least, in case the status is lost.
 *
 * @param id - the first digits of the CA's fingerprint
 */
export function retiredUntil(id: string): string {
  return `countersign.dev/retired-${id}`;
}

/**
 * Returns the id of a CA in {@link RETIRED_CERTIFICATE}, {@link RETIRED_KEY} and
 * {@link retiredUntil}.
 */
export function retiredId(fingerprint: string): string {
  return fingerprint.slice('sha256:'.length, 'sha256:'.length + RETIRED_ID_DIGITS);
}
