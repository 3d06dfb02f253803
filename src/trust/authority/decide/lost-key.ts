// SPDX-License-Identifier: Apache-2.0
import {
  secretOrNone,
  type AuthorityStatus,
  type ClusterSigner,
} from '#api/signer/cluster-signer.ts';
import type { ObservedSecret } from './inspect.ts';
import type { SignerSnapshot } from './snapshot.ts';
import * as messages from '../messages.ts';

/**
 * Reports whether no component has the key of a CA that the Secret does not hold now. Components
 * keep the CA that they signed with while the Secret exists, whatever it holds, and drop it with
 * the Secret.
 *
 * @returns false if components may still hold the key
 */
export function isPreviousKeyLost(secret: ObservedSecret, { secretUID }: AuthorityStatus): boolean {
  if (secret.kind === 'found') {
    return secretUID !== undefined && secretUID !== secret.secret.metadata.uid;
  }
  return secret.kind === 'missing';
}

/** Returns why the key of the CA is lost, for a Secret that has another CA or none. */
export function lossCause({ spec }: Pick<ClusterSigner, 'spec'>): string {
  const secret = secretOrNone(spec);
  if (secret === undefined) return messages.REPLACED_BY_KEY_HOLDER;
  const where = `${secret.namespace}/${secret.name}`;
  // Users name other Secrets of their own. A managed CA comes back under the same name.
  return spec.authority.managed === undefined
    ? messages.secretReplaced(where)
    : messages.secretDeleted(where);
}

/**
 * Writes `secretUID` to the CA in `tls.*`, keeps it on an Active CA, and removes it from others. So
 * the loss of a key shows in the status.
 *
 * @param active - the CA in `tls.*`, if it is usable
 */
export function withSecretUids(
  { secret }: SignerSnapshot,
  active: { readonly fingerprint: string } | undefined,
  authorities: readonly AuthorityStatus[],
): readonly AuthorityStatus[] {
  return authorities.map((each) => {
    if (secret.kind === 'found' && each.fingerprint === active?.fingerprint) {
      return { ...each, secretUID: secret.secret.metadata.uid };
    }
    if (each.phase === 'Active') return each;
    const { secretUID: _none, ...entry } = each;
    return entry;
  });
}
