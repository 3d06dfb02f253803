// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import {
  NEIGHBOURS,
  type CtbWorld,
  type Neighbour,
  type SeenBundle,
} from '../../conformance/ctb/snapshot.ts';
import type { Skipped } from '../../conformance/observed-request.ts';
import { SignerError } from '../../errors.ts';
import { listPages } from '../../kube/watch/list-pages.ts';
import { certificatesResource } from '../anchors.ts';
import type { Kit } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { record, type Recorder } from '../recorder.ts';
import { may, maySigner } from '../permissions.ts';
import { bundleCalls } from './api-calls.ts';
import { leafOf } from './leaf.ts';
import { bundleMounts } from './mounts.ts';
import { ownSigner } from '../own-signer.ts';
import { createBundle, freshCertificate, type CtbKit } from './create-bundle.ts';
import { bundleRefusals } from './invalid-bundles.ts';

/** Observes what a signer publishes. @throws KubeError or SignerError when nothing can be asked */
export async function observeCtb(kit: Kit): Promise<CtbWorld> {
  const bundles = await certificatesResource(kit, 'clustertrustbundles');
  if (bundles === undefined) {
    throw new SignerError({
      code: 'KUBE_NOT_FOUND',
      disposition: 'wait',
      message: 'this API server serves no clustertrustbundles.certificates.k8s.io',
    });
  }
  const ctb: CtbKit = { kit, bundles };
  const lacking = await kit.rights.lacking(may(['list', 'watch'], bundles.plural));
  if (lacking !== undefined)
    throw new SignerError({ code: 'KUBE_FORBIDDEN', disposition: 'wait', message: lacking });
  const fieldSelector = `spec.signerName=${kit.signerName}`;
  const published = await record<ClusterTrustBundle>(kit, {
    resource: bundles,
    fieldSelector,
    mayWatch: true,
  });
  const labelSelector = `${RUN_LABEL}=${kit.run}`;
  const own = await record<ClusterTrustBundle>(kit, {
    resource: bundles,
    labelSelector,
    mayWatch: true,
  });
  const begun = kit.clock();
  try {
    kit.say('making bundles, and pods that mount them');
    const neighbours = await makeNeighbours(ctb);
    const [leaf, refusals, calls, mounts] = await Promise.all([
      leafOf(kit),
      bundleRefusals(ctb),
      bundleCalls(ctb),
      bundleMounts(ctb),
    ]);
    await kit.delay(Math.max(0, begun + kit.quietMs - kit.clock()), kit.signal);
    return {
      signerName: kit.signerName,
      profile: kit.profile,
      bundles: published.objects().map((each) => seenOf(published, each)),
      bundlesOfAll: await namesOfAll(ctb),
      leaf,
      neighbours: writesOf(own, neighbours),
      refusals,
      calls,
      mounts,
      now: kit.clock() - kit.client.clockOffset(),
    };
  } finally {
    await Promise.all([published.stop(), own.stop()]);
  }
}

function seenOf(
  recorder: Recorder<ClusterTrustBundle>,
  { metadata, spec }: ClusterTrustBundle,
): SeenBundle {
  return {
    name: metadata.name,
    signerName: spec.signerName ?? '',
    pem: spec.trustBundle,
    writes: recorder.versionsOf(metadata.uid).length - 1,
  };
}

async function namesOfAll({ kit, bundles }: CtbKit): Promise<readonly string[]> {
  const names: string[] = [];
  await listPages({ client: kit.client, path: bundles.collection() }, (each) => {
    const { spec, metadata } = each as unknown as ClusterTrustBundle;
    if (spec.signerName === kit.signerName) names.push(metadata.name);
  });
  return names;
}

type Made = Readonly<Record<Neighbour, ClusterTrustBundle | Skipped>>;

async function makeNeighbours(ctb: CtbKit): Promise<Made> {
  const { kit, bundles } = ctb;
  const signerName = ownSigner(kit, 'foreign');
  const trustBundle = await freshCertificate(ctb, 'Neighbour');
  const rights = may(['create', 'delete'], bundles.plural);
  const [plain, attest] = [
    await kit.rights.lacking(rights),
    await kit.rights.lacking(rights, maySigner('attest', signerName)),
  ];
  return {
    foreign:
      attest === undefined
        ? await createBundle(ctb, { name: bundleName(signerName, 'a'), signerName, trustBundle })
        : { skipped: attest },
    unlinked:
      plain === undefined
        ? await createBundle(ctb, { name: `conformance-${kit.run}-unlinked`, trustBundle })
        : { skipped: plain },
  };
}

function writesOf(recorder: Recorder<ClusterTrustBundle>, made: Made): CtbWorld['neighbours'] {
  const seen = NEIGHBOURS.map((name) => {
    const bundle = made[name];
    if ('skipped' in bundle) return [name, bundle] as const;
    return [name, { writes: recorder.versionsOf(bundle.metadata.uid).length - 1 }] as const;
  });
  return Object.fromEntries(seen) as CtbWorld['neighbours'];
}
