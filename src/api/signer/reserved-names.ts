// SPDX-License-Identifier: Apache-2.0
import { INVISIBLE_CHARACTERS } from '../../quote.ts';
import { resemblesPrefix } from './look-alikes.ts';

/**
 * What Kubernetes itself goes by: `system:masters` and `kubeadm:cluster-admins` are administrators
 * of every cluster, `system:node:…` is a kubelet, `system:serviceaccount:…` a ServiceAccount.
 */
export const RESERVED_PREFIXES = ['system:', 'kubeadm:'] as const;

/**
 * How much of a name is looked at for each character of a prefix: NFKC makes one character of at most
 * four, and puts a long run of combining marks in order in quadratic time.
 */
const EXAMINED_PER_CHARACTER = 8;

/**
 * Whether a common name or an organization is one that only Kubernetes may hand out.
 *
 * The API server compares bytes. We compare what a person, a proxy or an LDAP server could take for
 * the same name, so that no spelling of a reserved name is ever signed.
 *
 * @param extraPrefixes - what the operator of this installation reserves besides
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

/** Without what nobody sees: what the eye takes for the beginning is the beginning. */
function visible(text: string): string {
  return text.replace(INVISIBLE_CHARACTERS, '').trim();
}

/** Of all characters that look like a colon the only one that NFKC makes something else of: two full stops. */
const VERTICAL_COLON = '\ufe30';

function fold(text: string): string {
  return visible(text.replaceAll(VERTICAL_COLON, ':').normalize('NFKC')).toLowerCase();
}
