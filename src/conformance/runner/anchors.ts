// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Anchors } from '../snapshot.ts';
import type { SkippedScenario } from '../observed-request.ts';
import { SignerError, attempt, messageOf } from '#base/errors.ts';
import { servedVersions } from '#kube/client/discovery.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import type { Run } from './run.ts';
import { certificatesRule } from './permissions.ts';

const GROUP = 'certificates.k8s.io';

/**
 * Returns the kind in the newest version that this API server serves, or undefined if it serves
 * none.
 */
export async function certificatesResource(
  run: Run,
  plural: string,
): Promise<Resource | undefined> {
  const [version] = await servedVersions(run.client, { group: GROUP, plural }, ['v1', 'v1beta1']);
  return version === undefined ? undefined : resource({ group: GROUP, version, plural });
}

/**
 * Returns the anchors that verify the signer's leaves: a file's certificates, or its published
 * bundles.
 */
export async function anchorsOf(run: Run): Promise<Anchors | SkippedScenario> {
  if (run.anchors !== undefined) return readAnchorsFrom(run.anchors.pem, run.anchors.from);
  const bundles = await bundlesOf(run);
  if ('skipped' in bundles) return bundles;
  if (bundles.length === 0) {
    return {
      skipped: `no ClusterTrustBundle of ${run.signerName}; --anchors names a file instead`,
    };
  }
  const names = bundles.map(({ metadata }) => metadata.name).join(', ');
  return readAnchorsFrom(
    bundles.map(({ spec }) => spec.trustBundle).join('\n'),
    `ClusterTrustBundle ${names}`,
  );
}

/** Returns every ClusterTrustBundle of the signer. */
async function bundlesOf(run: Run): Promise<readonly ClusterTrustBundle[] | SkippedScenario> {
  const bundles = await certificatesResource(run, 'clustertrustbundles');
  if (bundles === undefined) return { skipped: 'the API server has no ClusterTrustBundles' };
  const missing = await run.permissions.missing(certificatesRule(['list'], 'clustertrustbundles'));
  if (missing !== undefined) return { skipped: missing };
  const fieldSelector = `spec.signerName=${run.signerName}`;
  return listObjects<ClusterTrustBundle>(run.client, bundles, { fieldSelector });
}

/** Returns the anchors of a PEM text. @param from - the origin of the text */
export function readAnchorsFrom(pem: string, from: string): Anchors | SkippedScenario {
  const read = attempt(() => readAnchors(pem));
  if (read instanceof SignerError) return { skipped: `${from}: ${messageOf(read)}` };
  return { certificates: read, from };
}
