// SPDX-License-Identifier: Apache-2.0
/** Names in RBAC that authorize a verb on a signer name. */

/**
 * Domain of Signers, whose signer names are derived: `signers.countersign.dev/<namespace>.<name>`.
 * The program rejects a ClusterSigner with such a name, because it could impersonate a namespace's
 * Signer.
 */
export const NAMESPACED_DOMAIN = 'signers.countersign.dev';

/** The same for AcmeSigners: `acmesigners.acme.countersign.dev/<namespace>.<name>`. */
export const ACME_NAMESPACED_DOMAIN = 'acmesigners.acme.countersign.dev';

/**
 * Verbs on `signers` that Kubernetes itself checks. The others, such as `request` and `revoke`, are
 * our own.
 */
const KUBERNETES_VERBS: readonly string[] = ['approve', 'sign', 'attest'];

/** Domains whose signers belong to different namespaces, and therefore to different people. */
export const TENANT_DOMAINS: readonly string[] = [NAMESPACED_DOMAIN, ACME_NAMESPACED_DOMAIN];

/** Returns `example.com/*`, the RBAC name of all signers of a domain. */
export function everySignerOf(domain: string): string {
  return `${domain}/*`;
}

/** Returns the RBAC name of all signers in the domain of a signer name. */
export function everySignerBeside(signerName: string): string {
  return everySignerOf(signerName.split('/')[0] ?? '');
}

/** Reports whether a grant of `verb` on `<domain>/*` extends to the signers of namespaces. */
export function reachesTenants(verb: string): boolean {
  return KUBERNETES_VERBS.includes(verb);
}

/**
 * Returns the RBAC names that authorize `verb` on a signer name: the name itself, then all signers
 * of its domain. Kubernetes checks them in this order (plugin/pkg/admission/certificates/util.go,
 * IsAuthorizedForSignerName). Our own verbs do not accept the wildcard of a domain of namespaces,
 * which would include the signers of every tenant.
 */
export function authorizingNames(verb: string, signerName: string): readonly string[] {
  const every = everySignerBeside(signerName);
  const isTenants = TENANT_DOMAINS.some((domain) => every === everySignerOf(domain));
  return signerName === every || (isTenants && !reachesTenants(verb))
    ? [signerName]
    : [signerName, every];
}
