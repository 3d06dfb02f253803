// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { selfSignedCertificate } from '#conformance/self-signed.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import type { Run } from '../run.ts';

/** The common state of all scenarios of ClusterTrustBundles. */
export interface CtbRun {
  readonly run: Run;
  readonly bundles: Resource;
}

const YEAR_MS = 365 * 24 * 3600_000;

/**
 * Returns the PEM of a fresh CA, or of a certificate that is not a CA if `isCa` is false. Drops its
 * key at once.
 */
export async function freshCertificate(
  { run }: CtbRun,
  commonName: string,
  isCa = true,
): Promise<string> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const now = run.clock();
  const { random } = run;
  return selfSignedCertificate({
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
  { run, bundles }: CtbRun,
  wanted: BundleWanted,
): Promise<ClusterTrustBundle> {
  const { name, labels, ...spec } = wanted;
  const metadata = { name, ...(labels && { labels }) };
  return run.created.create<ClusterTrustBundle>(bundles, {
    kind: 'ClusterTrustBundle',
    metadata,
    spec,
  });
}
