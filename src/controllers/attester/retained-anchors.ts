// SPDX-License-Identifier: Apache-2.0
import { servedSince, timesOf } from '../../api/object/cluster-trust-bundle.ts';
import { CLUSTER_SIGNER_UID } from '../../api/signer/grant.ts';
import { SignerError, attempt } from '../../errors.ts';
import { fingerprint, type Certificate } from '../../pki/x509/certificate.ts';
import { readAnchors } from '../../pki/x509/trust-bundle.ts';
import { type BundleInput, lastLeafEnd } from './bundle-annotations.ts';
import { INHERITED, isOurs } from './annotations.ts';
import { distrustedCas } from '../../rotation/distrusted-cas.ts';

export interface RetainedAnchor {
  readonly anchor: Certificate;
  readonly fingerprint: string;
  /** Milliseconds: no leaf of the predecessor lives longer. */
  readonly until: number;
}

/**
 * The anchors that were published for an earlier ClusterSigner of this bundle's name. A ClusterSigner
 * that was deleted and made again, or that follows an elder, knows nothing of the CAs before it; their
 * leaves live on, and so does the trust in them.
 *
 * @param own - fingerprints of the anchors that the ClusterSigner itself names
 */
export function retainedAnchors(
  { signer, bundle, secretNamespace, clocksApart, now }: BundleInput,
  own: ReadonlySet<string>,
): readonly RetainedAnchor[] {
  if (bundle === undefined || !isOurs(bundle, secretNamespace)) return [];
  const { annotations } = bundle.metadata;
  const anchors = attempt(() => readAnchors(bundle.spec.trustBundle));
  if (anchors instanceof SignerError) return [];
  const since = servedSince(bundle);
  const isOut = distrustedCas(signer);
  const inherited = timesOf(annotations?.[INHERITED]);
  const publisher = annotations?.[CLUSTER_SIGNER_UID];
  const isNew = publisher !== undefined && publisher !== signer.metadata.uid;
  const longest = (lastLeafEnd(bundle, now) ?? now) + 1000;
  return anchors
    .map((anchor) => ({ anchor, fingerprint: fingerprint(anchor.raw) }))
    .filter(({ fingerprint: print }) => !own.has(print) && since.has(print))
    .filter(({ fingerprint: print }) => isNew || inherited.has(print))
    .filter(({ fingerprint: print }) => !isOut(print))
    .map((each) => {
      const { notAfter } = each.anchor;
      const known = inherited.get(each.fingerprint);
      if (clocksApart) return { ...each, until: known ?? notAfter };
      // What somebody else wrote there must not last longer than what we would have written.
      return { ...each, until: Math.min(known ?? longest, longest, notAfter) };
    })
    .filter(({ until }) => clocksApart || until > now);
}
