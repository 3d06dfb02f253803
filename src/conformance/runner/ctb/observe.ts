// SPDX-License-Identifier: Apache-2.0
import { recordOf } from '#base/object-keys.ts';
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import {
  UNRELATED_BUNDLES,
  type CtbSnapshot,
  type UnrelatedBundle,
  type ObservedBundle,
} from '#conformance/ctb/snapshot.ts';
import type { SkippedScenario } from '#conformance/observed-request.ts';
import { SignerError } from '#base/errors.ts';
import { listObjects } from '#kube/watch/list-objects.ts';
import { certificatesResource } from '../anchors.ts';
import { type Run, runSignerName } from '../run.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { startRecorder, type Recorder } from '../recorder.ts';
import { certificatesRule, signerRule } from '../permissions.ts';
import { bundleCalls } from './api-calls.ts';
import { leafOf } from './leaf.ts';
import { bundleMounts } from './mounts.ts';
import { createBundle, freshCertificate, type CtbRun } from './create-bundle.ts';
import { bundleRefusals } from './invalid-bundles.ts';

/** Observes what a signer publishes. @throws KubeError or SignerError when no call succeeds */
export async function observeCtb(run: Run): Promise<CtbSnapshot> {
  const bundles = await certificatesResource(run, 'clustertrustbundles');
  if (bundles === undefined) {
    throw new SignerError({
      code: 'KUBE_NOT_FOUND',
      disposition: 'wait',
      message: 'this API server serves no clustertrustbundles.certificates.k8s.io',
    });
  }
  const ctb: CtbRun = { run, bundles };
  const missing = await run.permissions.missing(
    certificatesRule(['list', 'watch'], bundles.plural),
  );
  if (missing !== undefined)
    throw new SignerError({ code: 'KUBE_FORBIDDEN', disposition: 'wait', message: missing });
  const fieldSelector = `spec.signerName=${run.signerName}`;
  const published = await startRecorder<ClusterTrustBundle>(run, {
    resource: bundles,
    fieldSelector,
    mayWatch: true,
  });
  const labelSelector = `${RUN_LABEL}=${run.id}`;
  const own = await startRecorder<ClusterTrustBundle>(run, {
    resource: bundles,
    labelSelector,
    mayWatch: true,
  });
  const begun = run.clock();
  try {
    run.progress('making bundles, and pods that mount them');
    const neighbours = await makeNeighbours(ctb);
    const [leaf, refusals, calls, mounts] = await Promise.all([
      leafOf(run),
      bundleRefusals(ctb),
      bundleCalls(ctb),
      bundleMounts(ctb),
    ]);
    await run.delay(Math.max(0, begun + run.quietMs - run.clock()), run.signal);
    return {
      signerName: run.signerName,
      profile: run.profile,
      bundles: published.objects().map((each) => seenOf(published, each)),
      listedNames: await namesOfAll(ctb),
      leaf,
      unrelatedBundles: writesOf(own, neighbours),
      invalidBundles: refusals,
      calls,
      mounts,
      now: run.clock() - run.client.clockOffset(),
    };
  } finally {
    await Promise.all([published.stop(), own.stop()]);
  }
}

function seenOf(
  recorder: Recorder<ClusterTrustBundle>,
  { metadata, spec }: ClusterTrustBundle,
): ObservedBundle {
  return {
    name: metadata.name,
    signerName: spec.signerName ?? '',
    pem: spec.trustBundle,
    writes: recorder.versionsOf(metadata.uid).length - 1,
  };
}

async function namesOfAll({ run, bundles }: CtbRun): Promise<readonly string[]> {
  const found = await listObjects<ClusterTrustBundle>(run.client, bundles, {
    keep: ({ spec }) => spec.signerName === run.signerName,
  });
  return found.map(({ metadata }) => metadata.name);
}

type PlannedRequest = Readonly<Record<UnrelatedBundle, ClusterTrustBundle | SkippedScenario>>;

async function makeNeighbours(ctb: CtbRun): Promise<PlannedRequest> {
  const { run, bundles } = ctb;
  const signerName = runSignerName(run, 'foreign');
  const trustBundle = await freshCertificate(ctb, 'Neighbour');
  const rights = certificatesRule(['create', 'delete'], bundles.plural);
  const [plain, attest] = [
    await run.permissions.missing(rights),
    await run.permissions.missing(rights, signerRule('attest', signerName)),
  ];
  return {
    foreign:
      attest === undefined
        ? await createBundle(ctb, { name: bundleName(signerName, 'a'), signerName, trustBundle })
        : { skipped: attest },
    unlinked:
      plain === undefined
        ? await createBundle(ctb, { name: `conformance-${run.id}-unlinked`, trustBundle })
        : { skipped: plain },
  };
}

type Writes = CtbSnapshot['unrelatedBundles'][UnrelatedBundle];

function writesOf(
  recorder: Recorder<ClusterTrustBundle>,
  made: PlannedRequest,
): CtbSnapshot['unrelatedBundles'] {
  const writes = (bundle: PlannedRequest[UnrelatedBundle]): Writes =>
    'skipped' in bundle ? bundle : { writes: recorder.versionsOf(bundle.metadata.uid).length - 1 };
  return recordOf(UNRELATED_BUNDLES.map((name) => [name, writes(made[name])]));
}
