// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isManaged } from '#api/signer/bundle-annotations.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { anchorFingerprints, publishedAnchors } from '#pki/x509/trust-bundle.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import { distributedAnchors } from '#requests/ca/distributed-anchors.ts';
import { isReadable, writeBundle } from '../spiffe/write-bundle.ts';
import * as messages from './messages.ts';

/** Published bundle of one signer of a trust domain. */
export interface Publication {
  readonly signerName: string;
  /** Undefined if no ClusterSigner of this installation serves the name. */
  readonly signer: ClusterSigner | undefined;
  readonly bundle: ClusterTrustBundle | undefined;
}

/** The bundle of a trust domain as served. */
export interface ServedBundle {
  /** The whole JSON response. */
  readonly text: string;
  /** Fingerprints of its anchors. */
  readonly fingerprints: readonly string[];
}

/** Result for one trust domain. */
export interface BundleDecision {
  /** The bundle to serve from now on, or undefined if none can be served. */
  readonly served: ServedBundle | undefined;
  /** Reason why the served bundle differs from the published one. */
  readonly problem?: string;
  /** Warning about anchors that the bundle omits. */
  readonly leftOut?: string;
}

/** Inputs of {@link decideServedBundle}. */
export interface ServedBundleInputs {
  readonly publications: readonly Publication[];
  /** The bundle that was served before. */
  readonly before: ServedBundle | undefined;
  readonly secretNamespace: string;
  readonly refreshSeconds: number;
}

/**
 * Decides what is served for a trust domain: the union of its signers' published bundles.
 * Synchronous and total.
 *
 * The contents depend on the bundles alone. `spiffe_sequence` is their highest resourceVersion, so
 * all replicas agree and each change of a bundle increases it.
 *
 * A bundle with certificates that its ClusterSigner does not name is not served. The previous one
 * stays, unless it has an anchor that is distrusted or no longer published.
 */
export function decideServedBundle({
  publications,
  before,
  secretNamespace,
  refreshSeconds,
}: ServedBundleInputs): BundleDecision {
  const problem = publications.map((each) => problemOf(each, secretNamespace)).find(isText);
  if (problem !== undefined) return { ...kept(before, publications), problem };
  const anchors = new Map(publications.flatMap(({ bundle }) => anchorsOf(bundle)));
  const versions = publications.map(({ bundle }) =>
    BigInt(bundle?.metadata.resourceVersion ?? '0'),
  );
  const sequence = versions.reduce((a, b) => (a > b ? a : b), 0n);
  const readable = [...anchors].filter(([, anchor]) => isReadable(anchor));
  const isAll = readable.length === anchors.size;
  const leftOut = messages.leftOutAnchors(anchors.size - readable.length, anchors.size);
  // A bundle without keys would mean that every SVID of the trust domain is revoked.
  if (readable.length === 0)
    return { served: undefined, problem: isAll ? messages.NO_CERTIFICATE : leftOut };
  const given = readable.map(([, anchor]) => anchor);
  const text = writeBundle({ anchors: given, sequence, refreshSeconds });
  const served = { text, fingerprints: readable.map(([print]) => print) };
  return isAll ? { served } : { served, leftOut };
}

/** Returns the readable anchors of a bundle. */
function anchorsOf(bundle: ClusterTrustBundle | undefined): readonly [string, Certificate][] {
  const found = [...publishedAnchors(bundle?.spec.trustBundle ?? '')];
  return found.flatMap(([print, anchor]) => (anchor === undefined ? [] : [[print, anchor]]));
}

function problemOf(
  { signerName, signer, bundle }: Publication,
  secretNamespace: string,
): string | undefined {
  if (bundle === undefined) return messages.unpublishedBundle(signerName);
  if (signer === undefined) return messages.unservedSigner(signerName);
  if (!isManaged(bundle, secretNamespace)) return messages.foreignBundle(bundle.metadata.name);
  // The attester removes expired anchors. Our own clock does not count here.
  const unchecked = { bundle, signer, secretNamespace, now: 0, clocksApart: true };
  const named = anchorFingerprints(distributedAnchors(unchecked) ?? '');
  const strangers = [...publishedAnchors(bundle.spec.trustBundle).keys()].filter(
    (each) => !named.has(each),
  );
  if (strangers.length === 0) return undefined;
  return messages.unknownCertificates(bundle.metadata.name, strangers.length, strangers[0]);
}

/** Keeps the previous bundle, unless it has an anchor whose trust was withdrawn. */
function kept(
  before: ServedBundle | undefined,
  publications: readonly Publication[],
): BundleDecision {
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
