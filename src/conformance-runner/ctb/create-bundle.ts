// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { selfSigned } from '../../conformance/self-signed.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { generatePrivateKey } from '../../pki/keys/private-key.ts';
import type { Kit } from '../run.ts';

/** What every probe of ClusterTrustBundles works with. */
export interface CtbKit {
  readonly kit: Kit;
  readonly bundles: Resource;
}

const YEAR_MS = 365 * 24 * 3600_000;

/** PEM of a fresh CA, or with `isCa` false of what is none. Its key is dropped at once. */
export async function freshCertificate(
  { kit }: CtbKit,
  commonName: string,
  isCa = true,
): Promise<string> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const now = kit.clock();
  const { random } = kit;
  return selfSigned({
    commonName,
    isCa,
    key,
    notBefore: now - 60_000,
    notAfter: now + YEAR_MS,
    random,
  });
}

export interface BundleWanted {
  readonly name: string;
  readonly signerName?: string;
  readonly trustBundle: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export function createBundle(
  { kit, bundles }: CtbKit,
  wanted: BundleWanted,
): Promise<ClusterTrustBundle> {
  const { name, labels, ...spec } = wanted;
  const metadata = { name, ...(labels && { labels }) };
  return kit.own.create<ClusterTrustBundle>(bundles, {
    kind: 'ClusterTrustBundle',
    metadata,
    spec,
  });
}
