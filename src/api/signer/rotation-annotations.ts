// SPDX-License-Identifier: Apache-2.0
/** The annotations that rotation is asked by, and those that it remembers by. */

/**
 * On a ClusterSigner, RFC 3339: a CA that began to sign before this moment is replaced once it has
 * come. Asked and answered for good: a CA that began later is left alone, so it may stay there.
 */
export const ROTATE_AT = 'countersign.dev/rotate-at';

/**
 * On a ClusterSigner, RFC 3339: once this moment has come, a CA that was made before it gets a
 * successor, which is published, and held until a rotation is due.
 */
export const PREPARE_AT = 'countersign.dev/prepare-at';

/** On a managed CA's Secret, Go duration: the `duration` that its Active CA was made for. */
export const DURATION = 'countersign.dev/duration';

/** The same of the Prepared CA, `next.crt`. */
export const NEXT_DURATION = 'countersign.dev/next-duration';

/** On a managed CA's Secret, RFC 3339 with milliseconds: when its Active CA became that. */
export const ACTIVATED_AT = 'countersign.dev/activated-at';

/**
 * On a CA's Secret, `sha256:<hex>`: this CA signs as soon as its anchor is published, because the one
 * before it is distrusted. It must be that of `tls.crt`; another is ignored.
 */
export const SIGNS_AT_ONCE = 'countersign.dev/signs-at-once';

/** On a managed CA's Secret: the Prepared CA, its certificate and its key (PEM). */
export const NEXT_CERTIFICATE = 'next.crt';
export const NEXT_KEY = 'next.key';

/**
 * On a managed CA's Secret (PEM): the Active CA's key as the CA before it certified it, then that CA. Of
 * `crossSigned`; whatever else is in there is ignored.
 */
export const CROSS_CERTIFICATE = 'cross.crt';

/**
 * On a managed CA's Secret, JSON `[{"issuer": "sha256:…", "subject": "sha256:…", "notAfter": "RFC 3339"}, …]`:
 * the cross-certificates that were made and have not expired, for a ClusterSigner whose status was lost.
 */
export const CROSS_CERTIFICATES = 'countersign.dev/cross-certificates';
