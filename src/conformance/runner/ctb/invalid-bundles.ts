// SPDX-License-Identifier: Apache-2.0
/** Tests bundles that the API server must reject, by dry run, so that nothing is stored. */
import { recordOf } from '#base/object-keys.ts';
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { INVALID_BUNDLES, type InvalidBundle } from '#conformance/ctb/snapshot.ts';
import type { Operation } from '#conformance/snapshot.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { certificatesRule, signerRule } from '../permissions.ts';
import { skipSteps, runStep, type ApiStep } from '../steps.ts';
import { createBundle, freshCertificate, type BundleWanted, type CtbRun } from './create-bundle.ts';
import { runSignerName } from '../run.ts';

/** Sends each invalid bundle as a dry run. A step fails when the API server accepts it. */
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
  const newName = bundleName(signerName, 'b');
  const create = (wanted: BundleWanted): ApiStep => rejected(ctb, wanted);
  const withBundle = (trustBundle: string): ApiStep =>
    create({ name: newName, signerName, trustBundle });
  const steps: Readonly<Record<InvalidBundle, ApiStep>> = {
    wrongPrefix: create({ name: `conformance-${run.id}`, signerName, trustBundle: anchor }),
    prefixWithoutSigner: create({ name: newName, trustBundle: anchor }),
    signerChange: rejected(ctb, { name, signerName: other, trustBundle: anchor }, stored),
    noCertificate: withBundle('no certificate'),
    otherBlock: withBundle(anchor.replaceAll('CERTIFICATE', 'PUBLIC KEY')),
    headers: withBundle(anchor.replace('-----\n', '-----\nComment: none\n\n')),
    noAuthority: withBundle(leaf),
    duplicate: withBundle(anchor + anchor),
  };
  const found = await Promise.all(
    INVALID_BUNDLES.map(async (each) => [each, await runStep(steps[each])] as const),
  );
  return recordOf(found);
}

/**
 * Passes when the API server rejects the bundle as invalid (422). With `stored` it is an update of
 * that one.
 */
function rejected(ctb: CtbRun, wanted: BundleWanted, stored?: ClusterTrustBundle): ApiStep {
  return async () => {
    try {
      await sendDryRun(ctb, wanted, stored);
    } catch (error) {
      if (error instanceof KubeError && error.status === 422) return error.message;
      throw error;
    }
    throw new Error('the API server accepts it');
  };
}

async function sendDryRun(
  { run, bundles }: CtbRun,
  { name, ...spec }: BundleWanted,
  stored: ClusterTrustBundle | undefined,
): Promise<void> {
  const metadata =
    stored === undefined ? { name } : { name, resourceVersion: stored.metadata.resourceVersion };
  await run.client.request({
    method: stored === undefined ? 'POST' : 'PUT',
    path: stored === undefined ? bundles.collection() : bundles.object({ name }),
    query: { dryRun: 'All' },
    body: { apiVersion: bundles.apiVersion, kind: 'ClusterTrustBundle', metadata, spec },
  });
}
