// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../api/object/cluster-trust-bundle.ts';
import type { Anchors } from '../conformance/snapshot.ts';
import type { Skipped } from '../conformance/observed-request.ts';
import { SignerError, attempt, messageOf } from '../errors.ts';
import { servedVersions } from '../kube/client/discovery.ts';
import { listPages } from '../kube/watch/list-pages.ts';
import { resource, type Resource } from '../kube/resource/resource.ts';
import { readAnchors } from '../pki/x509/trust-bundle.ts';
import type { Run } from './run.ts';
import { certificatesRule } from './permissions.ts';

const GROUP = 'certificates.k8s.io';

/** The kind in the newest version that this API server has; undefined where it has none. */
export async function certificatesResource(
  run: Run,
  plural: string,
): Promise<Resource | undefined> {
  const [version] = await servedVersions(run.client, { group: GROUP, plural }, ['v1', 'v1beta1']);
  return version === undefined ? undefined : resource({ group: GROUP, version, plural });
}

/** What the signer's leaves are verified with: a file's certificates, or its published bundles. */
export async function anchorsOf(run: Run): Promise<Anchors | Skipped> {
  if (run.anchors !== undefined) return readOf(run.anchors.pem, run.anchors.from);
  const bundles = await bundlesOf(run);
  if ('skipped' in bundles) return bundles;
  if (bundles.length === 0) {
    return {
      skipped: `no ClusterTrustBundle of ${run.signerName}; --anchors names a file instead`,
    };
  }
  const names = bundles.map(({ metadata }) => metadata.name).join(', ');
  return readOf(
    bundles.map(({ spec }) => spec.trustBundle).join('\n'),
    `ClusterTrustBundle ${names}`,
  );
}

/** Every ClusterTrustBundle of the signer. */
async function bundlesOf(run: Run): Promise<readonly ClusterTrustBundle[] | Skipped> {
  const bundles = await certificatesResource(run, 'clustertrustbundles');
  if (bundles === undefined) return { skipped: 'the API server has no ClusterTrustBundles' };
  const missing = await run.permissions.missing(certificatesRule(['list'], 'clustertrustbundles'));
  if (missing !== undefined) return { skipped: missing };
  const found: ClusterTrustBundle[] = [];
  const fieldSelector = `spec.signerName=${run.signerName}`;
  const path = bundles.collection();
  await listPages({ client: run.client, path, fieldSelector }, (each) =>
    found.push(each as unknown as ClusterTrustBundle),
  );
  return found;
}

function readOf(pem: string, from: string): Anchors | Skipped {
  const read = attempt(() => readAnchors(pem));
  if (read instanceof SignerError) return { skipped: `${from}: ${messageOf(read)}` };
  return { certificates: read, from };
}
