// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { CTB_CALLS, type CtbCall } from '../../conformance/ctb/snapshot.ts';
import type { Operation } from '../../conformance/snapshot.ts';
import { discoverResources } from '../discovery-steps.ts';
import { RUN_LABEL } from '../created-objects.ts';
import { startRecorder } from '../recorder.ts';
import { resourceCalls, patchSteps, untilWatched } from '../resource-steps.ts';
import { ALL_VERBS, certificatesRule } from '../permissions.ts';
import { check, skipSteps, runSteps, type ApiStep } from '../steps.ts';
import { createBundle, freshCertificate, type CtbRun } from './create-bundle.ts';

const LABEL = 'conformance.countersign.dev/calls';
const [, ...CALLS] = CTB_CALLS;

/** Upstream's calls of the API, on bundles without a signer, as there. */
export async function bundleCalls(ctb: CtbRun): Promise<Readonly<Record<CtbCall, Operation>>> {
  const { run, bundles } = ctb;
  const discovery = await discoverResources(run, bundles);
  const missing = await run.permissions.missing(certificatesRule(ALL_VERBS, bundles.plural));
  if (missing !== undefined) return { ...skipSteps(CTB_CALLS, missing), discovery };
  const labelSelector = `${RUN_LABEL}=${run.id},${LABEL}=yes`;
  const recorder = await startRecorder<ClusterTrustBundle>(run, {
    resource: bundles,
    labelSelector,
    mayWatch: true,
  });
  const calls = resourceCalls<ClusterTrustBundle>(run, bundles);
  const name = `conformance-${run.id}-calls`;
  const changed = async (
    write: (trustBundle: string) => Promise<ClusterTrustBundle>,
  ): Promise<string> => {
    const anchor = await freshCertificate(ctb, 'Conformance, changed');
    const { spec } = await write(anchor);
    check(spec.trustBundle === anchor, 'the anchors are the old ones');
    return 'the anchors are the new ones';
  };
  const steps: Readonly<Record<Exclude<CtbCall, 'discovery'>, ApiStep>> = {
    create: async () => {
      const trustBundle = await freshCertificate(ctb, 'Conformance');
      const { metadata } = await createBundle(ctb, {
        name,
        trustBundle,
        labels: { [LABEL]: 'yes' },
      });
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
      await untilWatched(run, recorder, ({ metadata }) => metadata.name === name);
      return 'one item, and the watch reported it';
    },
    update: () =>
      changed(async (trustBundle) => {
        const before = await calls.get(name);
        return calls.put({ ...before, spec: { ...before.spec, trustBundle } });
      }),
    ...patchSteps((how) =>
      changed((trustBundle) => {
        const whole = {
          apiVersion: bundles.apiVersion,
          kind: 'ClusterTrustBundle',
          metadata: { name },
          spec: { trustBundle },
        };
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
  try {
    return { discovery, ...(await runSteps(CALLS, steps)) };
  } finally {
    await recorder.stop();
  }
}
