// SPDX-License-Identifier: Apache-2.0
import { checkFederatedDomain } from '#api/object/federated-bundle.ts';
import { usageError } from '#base/errors.ts';
import { checkTrustDomain } from './trust-domain.ts';
import * as messages from './messages.ts';

/** A trust domain whose bundle is fetched, and how (SPIFFE Federation §5.1). */
export interface ForeignDomain {
  readonly trustDomain: string;
  readonly profile: 'https_web' | 'https_spiffe';
  readonly url: string;
  /** Canonical SPIFFE ID of the server, for `https_spiffe`. */
  readonly endpointId?: string;
}

/**
 * SPIFFE ID as in a certificate: canonical, with a path (SPIFFE-ID §2). Duplicated here so that a
 * flag does not load the code that reads certificates.
 */
const ID = /^spiffe:\/\/[a-z0-9._-]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)+$/;

/**
 * Reads `<trust domain>,https_web,<url>` or
 * `<trust domain>,https_spiffe,<SPIFFE ID of the server>,<url>`.
 *
 * @throws SignerError USAGE or NAME_INVALID
 */
export function readForeignDomain(text: string): ForeignDomain {
  const [domain = '', profile = '', ...rest] = text.split(',');
  const trustDomain = checkTrustDomain(domain);
  checkFederatedDomain(trustDomain);
  if (profile === 'https_web') return { trustDomain, profile, url: checkedUrl(rest.join(',')) };
  const [endpointId = '', ...url] = rest;
  if (profile !== 'https_spiffe' || !ID.test(endpointId))
    throw usageError(messages.FOREIGN_DOMAIN_SYNTAX);
  return { trustDomain, profile, endpointId, url: checkedUrl(url.join(',')) };
}

/** Checks the URL (§5.2.1.1, §5.2.2.1): https, without user information. */
function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return text;
  throw usageError(messages.HTTPS_URL_ONLY);
}
