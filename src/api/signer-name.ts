// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';

/** 253 of a domain, a slash, and 317 of path, as ValidateSignerName allows. */
const MAX_DOMAIN = 253;
const MAX_PATH = 317;
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DOMAIN = new RegExp(`^${LABEL}(\\.${LABEL})+$`);
const PATH = new RegExp(`^${LABEL}(\\.${LABEL})*$`);

/**
 * Checks a signer name by the grammar of Kubernetes' ValidateSignerName (a DNS-1123 domain with a
 * dot, a slash, DNS-1123 labels) and refuses the names that belong to Kubernetes.
 *
 * @throws SignerError SIGNER_NAME_INVALID (`fail`)
 */
export function checkSignerName(text: string): { domain: string; path: string } {
  const [domain = '', path = '', ...rest] = text.split('/');
  if (rest.length > 0 || domain === '' || path === '') {
    throw invalid(text, 'must be <domain>/<path> with exactly one slash');
  }
  if (domain.length > MAX_DOMAIN || !DOMAIN.test(domain)) {
    throw invalid(
      text,
      `has the domain "${domain.slice(0, 80)}", which must be a DNS name with a dot`,
    );
  }
  if (path.length > MAX_PATH || !PATH.test(path)) {
    throw invalid(
      text,
      `has the path "${path.slice(0, 80)}", which must be dot-separated DNS labels`,
    );
  }
  if (domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io')) {
    throw invalid(text, 'belongs to Kubernetes itself; use a domain of your own');
  }
  return { domain, path };
}

function invalid(text: string, reason: string): SignerError {
  return new SignerError({
    code: 'SIGNER_NAME_INVALID',
    disposition: 'fail',
    message: `signer name "${text.slice(0, 120)}" ${reason}`,
  });
}
