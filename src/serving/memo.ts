// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../api/object.ts';
import { SignerError, attempt } from '../errors.ts';

/**
 * Compiles something of a signer once for each generation. What failed to compile stays
 * failed until the generation changes: the same error is thrown again without the work.
 */
export function memoByGeneration<S extends KubeObject, T>(
  compile: (signer: S) => T,
): (signer: S) => T {
  const known = new Map<string, { key: string; made: T | SignerError }>();
  return (signer) => {
    const { uid, generation, name } = signer.metadata;
    const key = `${uid}/${generation ?? 0}`;
    const before = known.get(name);
    const made = before?.key === key ? before.made : attempt(() => compile(signer));
    known.set(name, { key, made });
    if (made instanceof SignerError) throw made;
    return made;
  };
}
