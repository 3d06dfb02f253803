// SPDX-License-Identifier: Apache-2.0
/** Bundles that the API server must refuse. Dry runs: nothing is stored. */
import { bundleName } from '../../api/object/cluster-trust-bundle.ts';
import { INVALID_BUNDLES, type InvalidBundle } from '../../conformance/ctb/snapshot.ts';
import type { Operation } from '../../conformance/snapshot.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { certificatesRule, signerRule } from '../permissions.ts';
import { skipSteps, runStep, type ApiStep } from '../steps.ts';
import { createBundle, freshCertificate, type BundleWanted, type CtbRun } from './create-bundle.ts';
import { runSignerName } from '../run.ts';

export async function bundleRefusals(
  ctb: CtbRun,
): Promise<Readonly<Record<InvalidBundle, Operation>>> {
  const { run, bundles } = ctb;
  const signerName = runSignerName(run, 'refusals');
  const other = runSignerName(run, 'others');
  const missing = await run.permissions.missing(
    certificatesRule(['create', 'update', 'delete'], bundles.plural),
    signerRule('attest', signerName),
    signerRule('attest', other),
  );
  if (missing !== undefined) return skipSteps(INVALID_BUNDLES, missing);
  const name = bundleName(signerName, 'a');
  const anchor = await freshCertificate(ctb, 'Conformance');
  const leaf = await freshCertificate(ctb, 'no CA', false);
  const stored = await createBundle(ctb, { name, signerName, trustBundle: anchor });

  const send = async (
    method: 'POST' | 'PUT',
    { name: requested, ...spec }: BundleWanted,
  ): Promise<void> => {
    const { resourceVersion } = stored.metadata;
    const metadata = { name: requested, ...(method === 'PUT' ? { resourceVersion } : {}) };
    await run.client.request({
      method,
      path: method === 'PUT' ? bundles.object({ name }) : bundles.collection(),
      query: { dryRun: 'All' },
      body: { apiVersion: bundles.apiVersion, kind: 'ClusterTrustBundle', metadata, spec },
    });
  };
  const refused =
    (method: 'POST' | 'PUT', wanted: BundleWanted): ApiStep =>
    async () => {
      try {
        await send(method, wanted);
      } catch (error) {
        if (error instanceof KubeError && error.status === 422) return error.message;
        throw error;
      }
      throw new Error('the API server takes it');
    };
  const withBundle = (trustBundle: string): ApiStep =>
    refused('POST', { name: bundleName(signerName, 'b'), signerName, trustBundle });
  const steps: Readonly<Record<InvalidBundle, ApiStep>> = {
    wrongPrefix: refused('POST', {
      name: `conformance-${run.id}`,
      signerName,
      trustBundle: anchor,
    }),
    prefixWithoutSigner: refused('POST', {
      name: bundleName(signerName, 'b'),
      trustBundle: anchor,
    }),
    signerChange: refused('PUT', { name, signerName: other, trustBundle: anchor }),
    noCertificate: withBundle('no certificate'),
    otherBlock: withBundle(anchor.replaceAll('CERTIFICATE', 'PUBLIC KEY')),
    headers: withBundle(anchor.replace('-----\n', '-----\nComment: none\n\n')),
    noAuthority: withBundle(leaf),
    duplicate: withBundle(anchor + anchor),
  };
  const found = await Promise.all(
    INVALID_BUNDLES.map(async (each) => [each, await runStep(steps[each])] as const),
  );
  return Object.fromEntries(found) as Readonly<Record<InvalidBundle, Operation>>;
}
