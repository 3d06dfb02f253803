// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';

/** Characters of a signer name: 253 of domain, a slash, 317 of path (ValidateSignerName). */
export const MAX_SIGNER_NAME = 571;
const MAX_DOMAIN = 253;
const MAX_DOMAIN_LABEL = 63;
/** ValidateSignerName allows a label of the path the length of a DNS subdomain, not of a DNS label. */
const MAX_PATH_LABEL = 253;

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

/**
 * The domain of Signers, whose signer names are derived: `signers.countersign.dev/<namespace>.<name>`. A
 * ClusterSigner with such a name could impersonate a namespace's Signer, so it is refused.
 */
export const NAMESPACED_DOMAIN = 'signers.countersign.dev';

/** The same for AcmeSigners: `acmesigners.acme.countersign.dev/<namespace>.<name>`. */
export const ACME_NAMESPACED_DOMAIN = 'acmesigners.acme.countersign.dev';

/**
 * Checks a signer name by the grammar of Kubernetes' ValidateSignerName (a DNS-1123 domain with a
 * dot, a slash, DNS-1123 labels) and refuses the names that belong to Kubernetes.
 *
 * @throws SignerError SIGNER_NAME_INVALID (`fail`)
 */
export function checkSignerName(text: string): { domain: string; path: string } {
  if (text.length > MAX_SIGNER_NAME) {
    throw invalid(text, `has ${text.length} characters, more than the limit of ${MAX_SIGNER_NAME}`);
  }
  const [domain = '', path = '', ...rest] = text.split('/');
  if (rest.length > 0 || domain === '' || path === '') {
    throw invalid(text, 'must be <domain>/<path> with exactly one slash');
  }
  const fault = faultOfDomain(domain) ?? faultOfPath(path);
  if (fault !== undefined) throw invalid(text, fault);
  return { domain, path };
}

function faultOfDomain(domain: string): string | undefined {
  const labels = domain.split('.');
  if (domain.length > MAX_DOMAIN || labels.length < 2 || !areLabels(labels, MAX_DOMAIN_LABEL)) {
    return `has the domain "${domain.slice(0, 80)}", which must be a DNS name with a dot`;
  }
  return domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io')
    ? 'is in a domain reserved for Kubernetes; use a domain of your own'
    : undefined;
}

function faultOfPath(path: string): string | undefined {
  return areLabels(path.split('.'), MAX_PATH_LABEL)
    ? undefined
    : `has the path "${path.slice(0, 80)}", which must be dot-separated DNS labels`;
}

function areLabels(labels: readonly string[], maxLength: number): boolean {
  return labels.every((label) => label.length <= maxLength && LABEL.test(label));
}

function invalid(text: string, reason: string): SignerError {
  return new SignerError({
    code: 'SIGNER_NAME_INVALID',
    disposition: 'fail',
    message: `signer name "${text.slice(0, 120)}" ${reason}`,
  });
}
