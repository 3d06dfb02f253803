// SPDX-License-Identifier: Apache-2.0
/** Bundles that the API server must refuse. Dry runs: nothing is stored. */
import { bundleName } from '../../api/object/cluster-trust-bundle.ts';
import { REFUSALS, type Refusal } from '../../conformance/ctb/snapshot.ts';
import type { Operation } from '../../conformance/snapshot.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { may, maySigner } from '../permissions.ts';
import { skipSteps, take, type Step } from '../steps.ts';
import { ownSigner } from '../own-signer.ts';
import { createBundle, freshCertificate, type BundleWanted, type CtbKit } from './create-bundle.ts';

export async function bundleRefusals(ctb: CtbKit): Promise<Readonly<Record<Refusal, Operation>>> {
  const { kit, bundles } = ctb;
  const signerName = ownSigner(kit, 'refusals');
  const other = ownSigner(kit, 'others');
  const lacking = await kit.rights.lacking(
    may(['create', 'update', 'delete'], bundles.plural),
    maySigner('attest', signerName),
    maySigner('attest', other),
  );
  if (lacking !== undefined) return skipSteps(REFUSALS, lacking);
  const name = bundleName(signerName, 'a');
  const anchor = await freshCertificate(ctb, 'Conformance');
  const leaf = await freshCertificate(ctb, 'no CA', false);
  const stored = await createBundle(ctb, { name, signerName, trustBundle: anchor });

  const send = async (
    method: 'POST' | 'PUT',
    { name: asked, ...spec }: BundleWanted,
  ): Promise<void> => {
    const { resourceVersion } = stored.metadata;
    const metadata = { name: asked, ...(method === 'PUT' ? { resourceVersion } : {}) };
    await kit.client.request({
      method,
      path: method === 'PUT' ? bundles.object({ name }) : bundles.collection(),
      query: { dryRun: 'All' },
      body: { apiVersion: bundles.apiVersion, kind: 'ClusterTrustBundle', metadata, spec },
    });
  };
  const refused =
    (method: 'POST' | 'PUT', wanted: BundleWanted): Step =>
    async () => {
      try {
        await send(method, wanted);
      } catch (error) {
        if (error instanceof KubeError && error.status === 422) return error.message;
        throw error;
      }
      throw new Error('the API server takes it');
    };
  const withBundle = (trustBundle: string): Step =>
    refused('POST', { name: bundleName(signerName, 'b'), signerName, trustBundle });
  const steps: Readonly<Record<Refusal, Step>> = {
    wrongPrefix: refused('POST', {
      name: `conformance-${kit.run}`,
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
    REFUSALS.map(async (each) => [each, await take(steps[each])] as const),
  );
  return Object.fromEntries(found) as Readonly<Record<Refusal, Operation>>;
}
