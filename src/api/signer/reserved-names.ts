// SPDX-License-Identifier: Apache-2.0
import { INVISIBLE_CHARACTERS } from '#base/quote.ts';
import { resemblesPrefix } from './look-alikes.ts';

/**
 * Prefixes of names that Kubernetes itself uses: `system:masters` and `kubeadm:cluster-admins` are
 * cluster administrators, `system:node:…` is a kubelet, `system:serviceaccount:…` a ServiceAccount.
 */
export const RESERVED_PREFIXES = ['system:', 'kubeadm:'] as const;

/**
 * Characters of a name to read for each character of a prefix. NFKC composes at most four
 * characters into one, and sorts a long run of combining marks in quadratic time.
 */
const EXAMINED_PER_CHARACTER = 8;

/**
 * Reports whether a common name or an organization is reserved for Kubernetes.
 *
 * The API server compares bytes. This check also rejects names that a user, a proxy or an LDAP
 * server could take for a reserved one.
 *
 * @param extraPrefixes - further prefixes that the operator of this installation reserves
 */
export function isReservedName(value: string, extraPrefixes: readonly string[]): boolean {
  const prefixes = [...RESERVED_PREFIXES, ...extraPrefixes];
  const longest = Math.max(...prefixes.map(({ length }) => length));
  const folded = fold(visible(value).slice(0, EXAMINED_PER_CHARACTER * longest));
  return prefixes.map(fold).some((prefix) => isOrResembles(folded, prefix));
}

function isOrResembles(text: string, prefix: string): boolean {
  return text.startsWith(prefix) || resemblesPrefix(text, prefix);
}

/** Removes invisible characters, so that a prefix cannot hide behind them. */
function visible(text: string): string {
  return text.replace(INVISIBLE_CHARACTERS, '').trim();
}

/** The only character that looks like a colon and that NFKC changes: into two full stops. */
const VERTICAL_COLON = '\ufe30';

function fold(text: string): string {
  return visible(text.replaceAll(VERTICAL_COLON, ':').normalize('NFKC')).toLowerCase();
}
