// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';
import * as messages from './messages.ts';

/** SPIFFE-ID §2.1 without empty labels, like the names that our signers accept. */
const TRUST_DOMAIN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const MAX_TRUST_DOMAIN = 255;

/**
 * Checks the name of a trust domain (SPIFFE-ID §2.1): lower-case letters, digits, dots, hyphens and
 * underscores.
 *
 * @returns the same name
 * @throws SignerError NAME_INVALID
 */
export function checkTrustDomain(name: string): string {
  if (TRUST_DOMAIN.test(name) && name.length <= MAX_TRUST_DOMAIN) return name;
  throw new SignerError({
    code: 'NAME_INVALID',
    disposition: 'fail',
    message: messages.notATrustDomain(name),
  });
}

/** Returns the trust domain of a canonical SPIFFE ID, or undefined for another URI. */
export function trustDomainOf(uri: string): string | undefined {
  return /^spiffe:\/\/(?<domain>[^/]+)(?:\/|$)/.exec(uri)?.groups?.['domain'];
}
