// SPDX-License-Identifier: Apache-2.0
/** Anchors of a bundle and of its copies: which are published, missing, or foreign. Pure. */
import { formatTime } from '#api/object/time.ts';
import { distrustedCas } from '#ca/rotation/distrusted-cas.ts';
import {
  authoritiesOf,
  fingerprintsOf,
  unexpectedAnchors,
  type SignerState,
} from '#operations/signer-state.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';

/** An object to which the anchors of a bundle are copied. */
export interface TrustTarget {
  /** Such as `ConfigMap` or `APIService`. */
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** PEM of its anchors. */
  readonly text: string;
}

/** A target, compared with its bundle. */
export interface JudgedTarget {
  /** `ConfigMap team-a/example.com.workload.primary` */
  readonly object: string;
  readonly anchors: number;
  /** Number of published anchors that it lacks. */
  readonly missing: number;
  /** Number of anchors that are distrusted, or neither in the bundle nor of a CA of the signer. */
  readonly foreign: number;
}

/** An anchor that belongs to no trusted CA of a signer. */
export interface StrangeAnchor {
  readonly fingerprint: string;
  /** Subject of its certificate, which its writer chose. */
  readonly subject: string;
  /** RFC 3339, or '' if its certificate cannot be read. */
  readonly notAfter: string;
  /** The object that has it. */
  readonly object: string;
  /** RFC 3339: the time until which the bundle keeps it for an earlier ClusterSigner. */
  readonly retainedUntil?: string | undefined;
  readonly isDistrusted: boolean;
}

/** Returns the anchors of the bundle by fingerprint. Empty if it is absent or was not read. */
export function bundleAnchors({
  bundle,
}: Pick<SignerState, 'bundle'>): ReadonlyMap<string, Certificate | undefined> {
  return typeof bundle === 'object' ? publishedAnchors(bundle.spec.trustBundle) : new Map();
}

/** Returns the number of foreign or distrusted anchors of the bundle. */
export function countForeign(state: SignerState): number {
  return unexpectedAnchors(state).filter(({ retainedUntil }) => retainedUntil === undefined).length;
}

/** Returns the anchors of the bundle and of the targets that belong to no trusted CA. */
export function strangeAnchors(
  state: SignerState,
  targets: readonly TrustTarget[],
): readonly StrangeAnchor[] {
  const published = bundleAnchors(state);
  const name = typeof state.bundle === 'object' ? state.bundle.metadata.name : '';
  const inBundle = unexpectedAnchors(state).map(
    ({ fingerprint, retainedUntil, isDistrusted = false }) => ({
      ...anchorRow(`ClusterTrustBundle ${name}`, fingerprint, published.get(fingerprint)),
      retainedUntil,
      isDistrusted,
    }),
  );
  const known = knownAnchors(state);
  const isDistrusted = distrustedCas(state.signer);
  const copied = targets.flatMap((target) =>
    [...publishedAnchors(target.text)]
      .filter(([fingerprint]) => !known.has(fingerprint))
      .map(([fingerprint, of]) => ({
        ...anchorRow(targetText(target), fingerprint, of),
        isDistrusted: isDistrusted(fingerprint),
      })),
  );
  return [...inBundle, ...copied];
}

/** Compares a target with the bundle. */
export function judgeTarget(state: SignerState, target: TrustTarget): JudgedTarget {
  const found = publishedAnchors(target.text);
  const known = knownAnchors(state);
  const published = [...bundleAnchors(state).keys()];
  return {
    object: targetText(target),
    anchors: found.size,
    missing: published.filter((each) => !found.has(each)).length,
    foreign: [...found.keys()].filter((each) => !known.has(each)).length,
  };
}

function knownAnchors(state: SignerState): ReadonlySet<string> {
  const isDistrusted = distrustedCas(state.signer);
  const known = [
    ...bundleAnchors(state).keys(),
    ...authoritiesOf(state).flatMap((each) => fingerprintsOf(each)),
  ];
  return new Set(known.filter((each) => !isDistrusted(each)));
}

function targetText({ kind, namespace, name }: TrustTarget): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}

function anchorRow(
  object: string,
  fingerprint: string,
  certificate: Certificate | undefined,
): Omit<StrangeAnchor, 'isDistrusted'> {
  if (certificate === undefined)
    return { fingerprint, object, subject: 'no readable CA certificate', notAfter: '' };
  const subject = nameText(certificate.subject);
  return { fingerprint, object, subject, notAfter: formatTime(certificate.notAfter) };
}
