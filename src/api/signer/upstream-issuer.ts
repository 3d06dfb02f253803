// SPDX-License-Identifier: Apache-2.0
/** Issuers of cert-manager that sign managed CAs, as an installation lists them. */
import { usageError } from '#base/errors.ts';
import type { CertManagerUpstream, ClusterSignerSpec } from './cluster-signer.ts';

/** Three names of 253 characters at most, and the kind. */
export const MAX_UPSTREAM_ISSUER = 640;

/** Namespace of the requests, kind and group of the issuer, its name. */
export const UPSTREAM_ISSUER =
  /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\/[A-Z][A-Za-z0-9]{0,62}\.[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Returns `<namespace>/<Kind>.<group>/<name>`. */
function upstreamIssuerText({ namespace, issuerRef }: CertManagerUpstream): string {
  return `${namespace}/${issuerRef.kind}.${issuerRef.group}/${issuerRef.name}`;
}

/** Returns the issuers of these specs, each once. */
export function upstreamIssuersOf(
  specs: readonly Pick<ClusterSignerSpec, 'authority'>[],
): readonly string[] {
  const all = specs.flatMap(({ authority }) => authority.managed?.upstream?.certManager ?? []);
  return [...new Set(all.map(upstreamIssuerText))];
}

/** Returns the namespaces of the requests, each once. */
export function upstreamNamespaces(issuers: readonly string[]): readonly string[] {
  return [...new Set(issuers.map((each) => each.slice(0, each.indexOf('/'))))];
}

/**
 * Checks an issuer, which ends up in CEL expressions.
 *
 * @throws SignerError USAGE (`fail`)
 */
export function checkUpstreamIssuer(text: string): void {
  if (text.length <= MAX_UPSTREAM_ISSUER && UPSTREAM_ISSUER.test(text)) return;
  throw usageError(
    `"${text.slice(0, 80)}" is not an upstream issuer; write <namespace of the request>/<Kind>.<group>/<name>, such as pki/ClusterIssuer.cert-manager.io/corporate`,
  );
}
