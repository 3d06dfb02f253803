// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { CTB_CALLS, type CtbCall } from '#conformance/ctb/snapshot.ts';
import type { Operation, Patch } from '#conformance/snapshot.ts';
import { discoverResources } from '../discovery-steps.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { startRecorder, type Recorder } from '../recorder.ts';
import { patchSteps, resourceCalls, untilWatched, type ResourceCalls } from '../resource-steps.ts';
import { ALL_VERBS, certificatesRule } from '../permissions.ts';
import { check, skipSteps, runSteps, type ApiStep } from '../steps.ts';
import { createBundle, freshCertificate, type CtbRun } from './create-bundle.ts';

const LABEL = 'conformance.countersign.dev/calls';
const [, ...CALLS] = CTB_CALLS;

/** Makes upstream's calls of the API, on bundles without a signer. */
export async function bundleCalls(ctb: CtbRun): Promise<Readonly<Record<CtbCall, Operation>>> {
  const { run, bundles } = ctb;
  const discovery = await discoverResources(run, bundles);
  const missing = await run.permissions.missing(certificatesRule(ALL_VERBS, bundles.plural));
  if (missing !== undefined) return { ...skipSteps(CTB_CALLS, missing), discovery };
  const labelled: LabelledBundles = {
    ctb,
    labelSelector: `${RUN_LABEL}=${run.id},${LABEL}=yes`,
    calls: resourceCalls<ClusterTrustBundle>(run, bundles),
    name: `conformance-${run.id}-calls`,
  };
  const recorder = await startRecorder<ClusterTrustBundle>(run, {
    resource: bundles,
    labelSelector: labelled.labelSelector,
    mayWatch: true,
  });
  const steps = { ...readSteps(labelled, recorder), ...writeSteps(labelled) };
  try {
    return { discovery, ...(await runSteps(CALLS, steps)) };
  } finally {
    await recorder.stop();
  }
}

/** The bundles of these steps, without a signer, and with a label of their own. */
interface LabelledBundles {
  readonly ctb: CtbRun;
  readonly labelSelector: string;
  readonly calls: ResourceCalls<ClusterTrustBundle>;
  readonly name: string;
}

type Steps<C extends CtbCall> = Readonly<Record<C, ApiStep>>;

function readSteps(
  { ctb, labelSelector, calls, name }: LabelledBundles,
  recorder: Recorder<ClusterTrustBundle>,
): Steps<'create' | 'read' | 'listAndWatch'> {
  return {
    create: async () => {
      const trustBundle = await freshCertificate(ctb, 'Conformance');
      const labels = { [LABEL]: 'yes' };
      const { metadata } = await createBundle(ctb, { name, trustBundle, labels });
      return `uid ${metadata.uid}`;
    },
    read: async () => {
      const { kind, spec } = await calls.get(name);
      check(kind === 'ClusterTrustBundle' && spec.trustBundle !== '', `a ${kind}`);
      return name;
    },
    listAndWatch: async () => {
      const { length } = await calls.list({ labelSelector });
      check(length === 1, `${length} items`);
      await untilWatched(ctb.run, recorder, ({ metadata }) => metadata.name === name);
      return 'one item, and the watch reported it';
    },
  };
}

function writeSteps({
  ctb,
  labelSelector,
  calls,
  name,
}: LabelledBundles): Steps<'update' | Patch | 'delete' | 'deleteCollection'> {
  return {
    update: () =>
      changeAnchors(ctb, async (trustBundle) => {
        const before = await calls.get(name);
        return calls.put({ ...before, spec: { ...before.spec, trustBundle } });
      }),
    ...patchSteps((how) =>
      changeAnchors(ctb, (trustBundle) => {
        const { apiVersion } = ctb.bundles;
        const kind = 'ClusterTrustBundle';
        const whole = { apiVersion, kind, metadata: { name }, spec: { trustBundle } };
        const pointers = [{ op: 'replace', path: '/spec/trustBundle', value: trustBundle }];
        return calls.patch(name, how, how === 'jsonPatch' ? pointers : whole);
      }),
    ),
    delete: async () => {
      await calls.remove(name);
      const found = await calls.status(name);
      check(found === 404, `a deleted bundle is answered with ${found}`);
      return '404';
    },
    deleteCollection: async () => {
      const trustBundle = await freshCertificate(ctb, 'Conformance');
      await createBundle(ctb, { name: `${name}-2`, trustBundle, labels: { [LABEL]: 'yes' } });
      await calls.removeAll({ labelSelector });
      const { length } = await calls.list({ labelSelector });
      check(length === 0, `${length} are left`);
      return 'none is left';
    },
  };
}

async function changeAnchors(
  ctb: CtbRun,
  write: (trustBundle: string) => Promise<ClusterTrustBundle>,
): Promise<string> {
  const anchor = await freshCertificate(ctb, 'Conformance, changed');
  const { spec } = await write(anchor);
  check(spec.trustBundle === anchor, 'the anchors are the old ones');
  return 'the anchors are the new ones';
}
