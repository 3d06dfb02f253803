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
export function isKeyLost(secret: ObservedSecret, { secretUID }: AuthorityStatus): boolean {
  if (secret.kind === 'found') {
    return secretUID !== undefined && secretUID !== secret.secret.metadata.uid;
  }
  return secret.kind === 'missing';
}

/** Returns why the key of the CA is lost, for a Secret that has another CA or none. */
export function lossCause({ spec }: Pick<ClusterSigner, 'spec'>): string {
  const secret = secretOrNone(spec);
  if (secret === undefined) return messages.IN_KEY_HOLDER_NOW;
  const where = `${secret.namespace}/${secret.name}`;
  // Users name other Secrets of their own. A managed CA comes back under the same name.
  return spec.authority.managed === undefined
    ? messages.otherSecret(where)
    : messages.secretDeleted(where);
}

/**
 * Records beside each CA that signs the Secret that holds its key, or held it last, so that the
 * loss of the key is known from then on.
 *
 * @param active - the CA in `tls.*`, if it is usable
 */
export function withSecrets(
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
