// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from '../../pki/x509/certificate.ts';
import {
  anchorFingerprints,
  publishedAnchors,
  withoutAnchors,
  writeAnchors,
} from '../../pki/x509/trust-bundle.ts';
import { isOurs } from '../../api/signer/bundle-annotations.ts';
import { distrustedCas } from '../../rotation/distrusted-cas.ts';
import { retainedAnchors, type PublishedBundle } from '../../rotation/retained-anchors.ts';

/**
 * What of a published bundle may be copied elsewhere: the anchors that the attester published and the signer still
 * trusts. What somebody else put into the bundle is not copied on, and what is distrusted leaves at once.
 *
 * @returns PEM; '' where no anchor is left, undefined where nothing is published
 */
export function distributedAnchors(published: PublishedBundle): string | undefined {
  const { bundle, signer, secretNamespace } = published;
  if (bundle === undefined || !isOurs(bundle, secretNamespace)) return undefined;
  const named = (signer.status?.authorities ?? []).map((each) => each.anchors ?? '');
  const own = anchorFingerprints(named.join('\n'));
  const retained = new Set(retainedAnchors(published, own).map((each) => each.fingerprint));
  const isOut = distrustedCas(signer);
  const anchors = [...publishedAnchors(bundle.spec.trustBundle)]
    .filter(([print]) => (own.has(print) || retained.has(print)) && !isOut(print))
    .flatMap(([, anchor]): readonly Certificate[] => (anchor === undefined ? [] : [anchor]));
  return anchors.length === 0 ? '' : writeAnchors(anchors);
}

/**
 * What a target should hold. While nothing is published what was copied stays, but for what is distrusted: that never
 * waits.
 *
 * @param before - PEM that it holds; undefined where there is none
 * @returns PEM; '' where no anchor is left, undefined where nothing is known
 */
export function wantedAnchors(
  published: PublishedBundle,
  before: string | undefined,
): string | undefined {
  const anchors = distributedAnchors(published);
  if (anchors !== undefined || before === undefined) return anchors;
  return withoutAnchors(before, distrustedCas(published.signer));
}
