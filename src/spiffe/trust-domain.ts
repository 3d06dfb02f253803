// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';
import { quote } from '../quote.ts';

/** SPIFFE-ID §2.1; no empty label, as in the names that our signers accept. */
const TRUST_DOMAIN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const MAX_TRUST_DOMAIN = 255;

/**
 * Checks the name of a trust domain (SPIFFE-ID §2.1): lower-case letters, digits, dots, hyphens and underscores.
 *
 * @returns the same name
 * @throws SignerError NAME_INVALID
 */
export function checkTrustDomain(name: string): string {
  if (TRUST_DOMAIN.test(name) && name.length <= MAX_TRUST_DOMAIN) return name;
  throw new SignerError({
    code: 'NAME_INVALID',
    disposition: 'fail',
    message: `${quote(name, 80)} is not the name of a trust domain; write it in lower case and without spiffe://, such as prod.example.com`,
  });
}

/** The trust domain of a canonical SPIFFE ID; undefined for another URI. */
export function trustDomainOf(uri: string): string | undefined {
  return /^spiffe:\/\/(?<domain>[^/]+)(?:\/|$)/.exec(uri)?.groups?.['domain'];
}
