// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { isOurs } from '../../api/signer/bundle-annotations.ts';
import type { Certificate } from '../../pki/x509/certificate.ts';
import { anchorFingerprints, publishedAnchors } from '../../pki/x509/trust-bundle.ts';
import { distrustedCas } from '../../rotation/distrusted-cas.ts';
import { distributedAnchors } from '../../runtime/ca/distributed-anchors.ts';
import { isReadable, writeBundle } from '../../spiffe/write-bundle.ts';

/** One signer of a trust domain: what is published for it. */
export interface Publication {
  readonly signerName: string;
  /** Undefined where no ClusterSigner of this installation serves the name. */
  readonly signer: ClusterSigner | undefined;
  readonly bundle: ClusterTrustBundle | undefined;
}

/** A trust domain's bundle as it is served. */
export interface ServedBundle {
  /** JSON, the whole answer. */
  readonly text: string;
  /** Fingerprints of its anchors. */
  readonly fingerprints: readonly string[];
}

/** What a look at a trust domain found. */
export interface BundleLook {
  /** What is served from now on; undefined: nothing can be. */
  readonly served: ServedBundle | undefined;
  /** Why that is not what is published now. */
  readonly problem?: string;
  /** What consumers cannot be told. */
  readonly leftOut?: string;
}

/** What a look goes by. */
export interface LookInit {
  readonly publications: readonly Publication[];
  /** What was served before. */
  readonly before: ServedBundle | undefined;
  readonly secretNamespace: string;
  readonly refreshSeconds: number;
}

/**
 * Decides what is served of a trust domain: the union of its signers' bundles, as they are published. Synchronous and total.
 *
 * The contents follow from the bundles alone, and so does `spiffe_sequence`: the highest resourceVersion of them. Every
 * replica has the same, and each change of a bundle makes it grow. The ClusterSigners only decide whether a bundle may be
 * served: not while it holds what the signer does not name. Then what was served before stays, unless it holds an anchor
 * that is distrusted or no longer published.
 */
export function look({
  publications,
  before,
  secretNamespace,
  refreshSeconds,
}: LookInit): BundleLook {
  const problem = publications.map((each) => problemOf(each, secretNamespace)).find(isText);
  if (problem !== undefined) return { ...kept(before, publications), problem };
  const anchors = new Map(publications.flatMap(({ bundle }) => anchorsOf(bundle)));
  const versions = publications.map(({ bundle }) =>
    BigInt(bundle?.metadata.resourceVersion ?? '0'),
  );
  const sequence = versions.reduce((a, b) => (a > b ? a : b), 0n);
  const readable = [...anchors].filter(([, anchor]) => isReadable(anchor));
  const isAll = readable.length === anchors.size;
  const leftOut = `${anchors.size - readable.length} of ${anchors.size} anchors have a key that no consumer of SPIFFE bundles reads (ML-DSA): they are left out`;
  // No key at all would say that every SVID of the trust domain is revoked.
  if (readable.length === 0) return { served: undefined, problem: isAll ? NOTHING : leftOut };
  const given = readable.map(([, anchor]) => anchor);
  const text = writeBundle({ anchors: given, sequence, refreshSeconds });
  const served = { text, fingerprints: readable.map(([print]) => print) };
  return isAll ? { served } : { served, leftOut };
}

const NOTHING = 'no bundle of the trust domain holds a certificate';

/** Of one that was found good before, which is all that is ever served. */
function anchorsOf(bundle: ClusterTrustBundle | undefined): readonly [string, Certificate][] {
  const found = [...publishedAnchors(bundle?.spec.trustBundle ?? '')];
  return found.flatMap(([print, anchor]) => (anchor === undefined ? [] : [[print, anchor]]));
}

function problemOf(
  { signerName, signer, bundle }: Publication,
  secretNamespace: string,
): string | undefined {
  if (bundle === undefined) return `no bundle of signer ${signerName} is published`;
  if (signer === undefined)
    return `no ClusterSigner of ${signerName} says what its bundle may hold`;
  if (!isOurs(bundle, secretNamespace))
    return `bundle ${bundle.metadata.name} is not published by this installation`;
  // When an anchor's time ends, the attester takes it out: by no clock of ours.
  const unchecked = { bundle, signer, secretNamespace, now: 0, clocksApart: true };
  const named = anchorFingerprints(distributedAnchors(unchecked) ?? '');
  const strangers = [...publishedAnchors(bundle.spec.trustBundle).keys()].filter(
    (each) => !named.has(each),
  );
  if (strangers.length === 0) return undefined;
  return `bundle ${bundle.metadata.name} holds ${strangers.length} certificates that its ClusterSigner does not name, or distrusts: ${strangers[0] ?? ''}`;
}

/** Trust that was withdrawn is not served a moment longer. */
function kept(before: ServedBundle | undefined, publications: readonly Publication[]): BundleLook {
  const published = new Set(
    publications.flatMap(({ bundle }) => anchorsOf(bundle).map(([print]) => print)),
  );
  const distrusts = publications.flatMap(({ signer }) =>
    signer === undefined ? [] : [distrustedCas(signer)],
  );
  const isOut = (print: string): boolean =>
    !published.has(print) || distrusts.some((isDistrusted) => isDistrusted(print));
  return { served: before?.fingerprints.some(isOut) === true ? undefined : before };
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}
