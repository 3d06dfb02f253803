// SPDX-License-Identifier: Apache-2.0

/**
 * What Kubernetes itself goes by: `system:masters` and `kubeadm:cluster-admins` are administrators
 * of every cluster, `system:node:…` is a kubelet, `system:serviceaccount:…` a ServiceAccount.
 */
export const RESERVED_PREFIXES = ['system:', 'kubeadm:'] as const;

/** Control and format characters: nobody sees them, and some readers drop them. */
const INVISIBLE = /[\p{Cc}\p{Cf}]/gu;

/**
 * Whether a common name or an organization is one that only Kubernetes may hand out.
 *
 * The API server compares bytes. We compare what a person, a proxy or an LDAP server could take for
 * the same name, so that no spelling of a reserved name is ever signed.
 *
 * @param extraPrefixes - what the operator of this installation reserves besides
 */
export function isReservedName(value: string, extraPrefixes: readonly string[]): boolean {
  const folded = fold(value);
  return [...RESERVED_PREFIXES, ...extraPrefixes].some((prefix) => folded.startsWith(fold(prefix)));
}

function fold(text: string): string {
  return text.normalize('NFKC').replace(INVISIBLE, '').trim().toLowerCase();
}
