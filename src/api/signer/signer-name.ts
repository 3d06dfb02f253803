// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../../errors.ts';

/** 253 of domain, a slash, 317 of path: what ValidateSignerName allows in all. */
export const MAX_SIGNER_NAME = 571;
const MAX_DOMAIN = 253;
const MAX_DOMAIN_LABEL = 63;
/** ValidateSignerName holds a path's labels to the length of a DNS subdomain, not of a label. */
const MAX_PATH_LABEL = 253;

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

/**
 * Of namespaced Signers, whose names are derived: `signers.countersign.dev/<namespace>.<name>`. A
 * ClusterSigner of such a name would speak for a namespace that did not ask it to.
 */
export const NAMESPACED_DOMAIN = 'signers.countersign.dev';

/**
 * Checks a signer name by the grammar of Kubernetes' ValidateSignerName (a DNS-1123 domain with a
 * dot, a slash, DNS-1123 labels) and refuses the names that belong to Kubernetes.
 *
 * @throws SignerError SIGNER_NAME_INVALID (`fail`)
 */
export function checkSignerName(text: string): { domain: string; path: string } {
  if (text.length > MAX_SIGNER_NAME) {
    throw invalid(text, `has ${text.length} characters; Kubernetes takes ${MAX_SIGNER_NAME}`);
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
    ? 'belongs to Kubernetes itself; use a domain of your own'
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
