// SPDX-License-Identifier: Apache-2.0
import { SIGNER_NAME } from '#api/signer/grant.ts';
import type { PublishedBundle } from '#ca/rotation/retained-anchors.ts';
import type { CaBundleObject, CaBundlePlace } from '#api/object/ca-bundle-object.ts';
import { wantedAnchors } from '#requests/ca/distributed-anchors.ts';

/** A change of the `caBundle`s of an object. */
export type CaBundleChange =
  | { readonly kind: 'ignore' }
  /** Its owner names no signer, or one that publishes nothing here. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'apply'; readonly places: readonly CaBundlePlace[] };

/**
 * Decides the change of one object. Synchronous and total.
 *
 * @param published - bundle of the signer that the object names, or undefined if the signer is not
 * served. If the signer publishes none, its distrusted anchors are removed and the others stay
 */
export function decideCaBundle(
  object: CaBundleObject | undefined,
  published: PublishedBundle | undefined,
): CaBundleChange {
  if (object === undefined) return { kind: 'ignore' };
  if (published === undefined) return { kind: 'refused' };
  const places = object.places.flatMap(({ path, text }) => {
    const wanted = wantedAnchors(published, text);
    return wanted === undefined || wanted === text ? [] : [{ path, text: wanted }];
  });
  if (places.length > 0) return { kind: 'apply', places };
  return published.signer.spec.trustBundle === undefined ? { kind: 'refused' } : { kind: 'ignore' };
}

/** Returns the signer name by which the owner of an object consents, or ''. */
export function namedSigner({ metadata }: CaBundleObject): string {
  return metadata.annotations?.[SIGNER_NAME] ?? '';
}
