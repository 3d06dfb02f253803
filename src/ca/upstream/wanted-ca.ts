// SPDX-License-Identifier: Apache-2.0
import { parseDuration } from '#api/object/duration.ts';
import {
  upstreamTrust,
  type ClusterSigner,
  type UpstreamTrust,
} from '#api/signer/cluster-signer.ts';
import { MIN_CA_LIFETIMES } from '#api/signer/cluster-signer-limits.ts';
import { usageBits } from '#pki/extensions/usages.ts';
import type { SubjectAltNames } from '#pki/names/general-names.ts';
import { distrustedCas, type IsDistrusted } from '../rotation/distrusted-cas.ts';
import { profileNames } from './profile-names.ts';

/** Requirements of a spec for the chain of its managed CA. */
export interface WantedCa {
  readonly trust: UpstreamTrust;
  readonly crossSigned: boolean;
  /** True if the CA signs CRLs. */
  readonly signsCrls: boolean;
  /** The shortest life that lets a successor become trusted in time. */
  readonly minSeconds: number;
  /** Names and purposes (OIDs) of its leaves. */
  readonly names: SubjectAltNames;
  readonly purposes: readonly string[];
  readonly isDistrusted: IsDistrusted;
}

/** @returns undefined if the CA signs its own certificate */
export function wantedCaOf(
  signer: Pick<ClusterSigner, 'spec' | 'status'>,
  changed: Partial<UpstreamTrust> = {},
): WantedCa | undefined {
  const { authority, profile } = signer.spec;
  const trust = authority.managed?.upstream && upstreamTrust(authority.managed.upstream);
  if (authority.managed === undefined || trust === undefined) return undefined;
  return {
    trust: { ...trust, ...changed },
    crossSigned: authority.managed.crossSigned,
    signsCrls: profile.crl !== undefined,
    minSeconds: MIN_CA_LIFETIMES * parseDuration(profile.maxDuration),
    names: profileNames(signer.spec),
    purposes: usageBits(profile.usages).extKeyUsage,
    isDistrusted: distrustedCas(signer),
  };
}
