// SPDX-License-Identifier: Apache-2.0
import { SignerError, usageError } from '#base/errors.ts';

/** Characters of a signer name: 253 of domain, a slash, 317 of path (ValidateSignerName). */
export const MAX_SIGNER_NAME = 571;
const MAX_DOMAIN = 253;
const MAX_DOMAIN_LABEL = 63;
/**
 * Length of a label of the path. ValidateSignerName allows that of a DNS subdomain, not of a DNS
 * label.
 */
const MAX_PATH_LABEL = 253;

const OF_KUBERNETES = /^(?:[^/]+\.)?kubernetes\.io\//;

/** Reports whether a signer name belongs to Kubernetes: no signer of Countersign can have it. */
export function isKubernetesSignerName(signerName: string): boolean {
  return OF_KUBERNETES.test(signerName);
}

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

/**
 * Checks a signer name by the grammar of Kubernetes' ValidateSignerName: a DNS-1123 domain with a
 * dot, a slash, DNS-1123 labels. Rejects names that belong to Kubernetes.
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

/**
 * Domains whose signer names an installation must list one by one: those of Kubernetes, of
 * Countersign, and of tenants.
 */
const RESERVED_DOMAINS = /^(?:.+\.)?(?:kubernetes\.io|k8s\.io|countersign\.dev)$/;

/**
 * Checks a domain whose every signer name the components serve.
 *
 * @param signerNames - those that are served. A domain of which none is served is a mistake.
 * @throws SignerError USAGE (`fail`)
 */
export function checkSignerDomain(domain: string, signerNames: readonly string[]): void {
  const fault =
    domainFault(domain) ??
    (RESERVED_DOMAINS.test(domain)
      ? 'has signers that are not yours; write a domain of your own'
      : undefined) ??
    (signerNames.some((name) => name.startsWith(`${domain}/`))
      ? undefined
      : `has none of the signers that are named; name one, such as ${domain}/workload, or leave the domain out`);
  if (fault !== undefined) throw usageError(`signer domain "${domain.slice(0, 120)}" ${fault}`);
}

function domainFault(domain: string): string | undefined {
  const labels = domain.split('.');
  const isDomain = labels.length > 1 && areLabels(labels, MAX_DOMAIN_LABEL);
  return isDomain && domain.length <= MAX_DOMAIN
    ? undefined
    : 'is not a domain; write it without a path and without a wildcard, such as example.com';
}

function faultOfDomain(domain: string): string | undefined {
  const labels = domain.split('.');
  if (domain.length > MAX_DOMAIN || labels.length < 2 || !areLabels(labels, MAX_DOMAIN_LABEL)) {
    return `has the domain "${domain.slice(0, 80)}", which must be a DNS name with a dot`;
  }
  return OF_KUBERNETES.test(`${domain}/`)
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
