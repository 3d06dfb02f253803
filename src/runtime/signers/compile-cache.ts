// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../bounded-map.ts';
import { keyOf, type KubeObject } from '../../api/object/object.ts';
import { SignerError, attempt } from '../../errors.ts';

/**
 * What one kind of signers has in a cluster, and more; whoever may write Signers makes and deletes
 * them under ever new names.
 */
const MAX_KNOWN = 10_000;

/**
 * Compiles something of a signer once for each generation. What failed to compile stays
 * failed until the generation changes: the same error is thrown again without the work.
 */
export function compileOncePerGeneration<S extends KubeObject, T>(
  compile: (signer: S) => T,
): (signer: S) => T {
  const known = new BoundedMap<string, { key: string; made: T | SignerError }>(MAX_KNOWN);
  return (signer) => {
    const { uid, generation } = signer.metadata;
    const key = `${uid}/${generation ?? 0}`;
    const name = keyOf(signer.metadata);
    const before = known.get(name);
    const made = before?.key === key ? before.made : attempt(() => compile(signer));
    if (before?.key !== key) known.set(name, { key, made });
    if (made instanceof SignerError) throw made;
    return made;
  };
}
