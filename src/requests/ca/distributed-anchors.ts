// SPDX-License-Identifier: Apache-2.0
import { signingAnchors } from '#ca/rotation/signing-anchors.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import {
  anchorFingerprints,
  publishedAnchors,
  withoutAnchors,
  writeAnchors,
} from '#pki/x509/trust-bundle.ts';
import { isManaged } from '#api/signer/bundle-annotations.ts';
import { distrustedAnchors, distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { retainedAnchors, type PublishedBundle } from '#ca/rotation/retained-anchors.ts';

/**
 * Returns the anchors of a published bundle that may be copied: those that the attester published
 * and the signer still trusts. Omits anchors that other writers added. Distrusted anchors are
 * removed at once.
 *
 * @returns PEM, or '' if no anchor is left, or undefined if nothing is published
 */
export function distributedAnchors(published: PublishedBundle): string | undefined {
  const { bundle, signer, secretNamespace } = published;
  if (bundle === undefined || !isManaged(bundle, secretNamespace)) return undefined;
  const named = (signer.status?.authorities ?? []).map((each) => each.anchors ?? '');
  const own = anchorFingerprints(named.join('\n'));
  const retained = new Set(retainedAnchors(published, own).map((each) => each.fingerprint));
  const isOut = distrustedCas(signer);
  const anchors = [...publishedAnchors(bundle.spec.trustBundle)]
    .filter(([print]) => (own.has(print) || retained.has(print)) && !isOut(print))
    .flatMap(([, anchor]): readonly Certificate[] => (anchor === undefined ? [] : [anchor]));
  return anchors.length === 0 ? '' : writeAnchors(anchors, signingAnchors(signer.status));
}

/**
 * Returns the anchors that a target should hold. Without a published bundle the copied anchors
 * stay, except distrusted ones, which never wait.
 *
 * @param before - PEM that the target holds, or undefined if there is none
 * @returns PEM, or '' if no anchor is left, or undefined if nothing is known
 */
export function wantedAnchors(
  published: PublishedBundle,
  before: string | undefined,
): string | undefined {
  const anchors = distributedAnchors(published);
  if (anchors !== undefined || before === undefined) return anchors;
  return withoutAnchors(before, distrustedAnchors(before, published.signer));
}
