// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import type { AuthorityStatus, ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { decide, type BundleChange, type BundleNameSnapshot } from '#trust/attester/decide.ts';
import { ca, link } from '../pki/chain.ts';
import { privateKey } from '../pki/keys.ts';
import { workload } from '../signers/workload-profile.ts';

/** Half a second past: what is cut off must not matter. */
export const NOW = Date.UTC(2026, 10, 21, 9, 0, 0, 500);
export const HOUR = 3_600_000;
export const SINCE = 'countersign.dev/served-since';
export const RETAIN = 'countersign.dev/retain-until';
export const LONGEST = 'countersign.dev/longest-leaf';

/** A CA certificate: its PEM, and its fingerprint as everybody else computes it. */
export interface Anchor {
  readonly pem: string;
  readonly fingerprint: string;
}

/** @param keyOf - the name of another anchor whose key it has */
export function anchor(name: string, keyOf = name): Anchor {
  const key = privateKey('P-256', keyOf);
  const { raw } = link(name, { extensions: [ca()], key }).certificate;
  const lines =
    Buffer.from(raw)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    pem: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    fingerprint: `sha256:${createHash('sha256').update(raw).digest('hex')}`,
  };
}

/** The ClusterSigner of design §2 with one authority for each of these texts of anchors. */
export function signerWith(anchors: readonly string[], longestLeaf = '24h'): ClusterSigner {
  const authorities = anchors.map((text): AuthorityStatus => ({
    fingerprint: '',
    phase: 'Active',
    notBefore: '2026-01-01T00:00:00Z',
    notAfter: '2027-01-01T00:00:00Z',
    longestLeaf,
    anchors: text,
  }));
  return workload({ 'trustBundle.labels': { team: 'a' } }, { status: { authorities } });
}

/** What is decided on the bundle of that ClusterSigner. */
export function planOf(more: Partial<BundleNameSnapshot>): BundleChange {
  return decide({
    name: 'example.com:workload:primary',
    bundle: undefined,
    lost: undefined,
    signer: undefined,
    serving: undefined,
    unreadable: false,
    isListed: true,
    secretNamespace: 'countersign-keys',
    clocksApart: false,
    now: NOW,
    ...more,
  });
}

/** The bundle as the API server has it once the plan is carried out. */
export function served(plan: BundleChange): ClusterTrustBundle {
  if (plan.kind !== 'create' && plan.kind !== 'update')
    throw new Error(`nothing is written: ${plan.kind}`);
  const { bundle } = plan;
  const stored = { uid: 'b-1', resourceVersion: '7', creationTimestamp: '2026-11-21T09:00:00Z' };
  return {
    ...bundle,
    apiVersion: 'certificates.k8s.io/v1',
    metadata: { ...bundle.metadata, ...stored },
  };
}

/** The bundle with these annotations besides its own; `undefined` removes one. */
export function annotated(
  bundle: ClusterTrustBundle,
  annotations: Readonly<Record<string, string | undefined>>,
): ClusterTrustBundle {
  const all = { ...bundle.metadata.annotations, ...annotations };
  const kept = Object.entries(all).filter(
    (each): each is [string, string] => each[1] !== undefined,
  );
  return { ...bundle, metadata: { ...bundle.metadata, annotations: Object.fromEntries(kept) } };
}

/** Since when the plan says that each anchor is served. */
export function sinceOf(plan: BundleChange): unknown {
  return JSON.parse(served(plan).metadata.annotations?.[SINCE] ?? '');
}
