// SPDX-License-Identifier: Apache-2.0
import type { Resource } from '#kube/resource/resource.ts';
import { runLoop, type ReconcileResult } from '#kube/workqueue/run-loop.ts';
import type { Component, Controller } from '#component/contract.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { areClocksStillApart, requeueAt, serverTime } from '#component/server-time.ts';
import { act } from './act.ts';
import { decide, type BundleNameSnapshot } from './decide.ts';
import { BUNDLE_SERIES } from './metrics.ts';
import { createAttesterState, report, type AttesterState } from './attester-state.ts';
import { servedSince } from '#api/object/cluster-trust-bundle.ts';
import { isManaged, publisherOf } from '#api/signer/bundle-annotations.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import { permissions } from './permissions.ts';
import { ignoreNotFound } from '#kube/client/kube-error.ts';
import * as messages from './messages.ts';

/** Bundles are few, and each has one writer. */
const BUNDLE_WORKERS = 2;

/** Publishes the ClusterTrustBundles of the ClusterSigners that it serves. */
export function createAttester(component: Component, resource: Resource): Controller {
  const state = createAttesterState(component, resource);
  const { signers, bundles } = state;
  return {
    signers: signers.all,
    permissions: () => permissions(namesOf(signers.all(), component)),
    notReady: () =>
      [
        { listed: signers.settled, failure: signers.failure },
        { listed: bundles.synced, failure: bundles.failure },
      ]
        .filter(({ listed, failure }) => !listed || failure !== undefined)
        .map(({ failure }) => messages.unlisted(failure)),
    run: async (signal) => {
      const watching = [signers.run(signal), bundles.run(signal)];
      const handle = (name: string): Promise<ReconcileResult> => reconcile(state, name);
      const onError = (name: string, error: unknown): void => {
        const named = { kind: 'ClusterTrustBundle', name };
        const regarding = { apiVersion: resource.apiVersion, ...named };
        reportRetry(component, error, { noun: 'bundle', named, regarding });
      };
      await runLoop({ ...component, workers: BUNDLE_WORKERS, handle, onError }, signal);
      await Promise.all(watching);
    },
  };
}

async function reconcile(state: AttesterState, name: string): Promise<ReconcileResult> {
  const { component, resource, signers, bundles } = state;
  if (!component.shard.owns(name)) return undefined;
  // "No ClusterSigner publishes this bundle" is a guess until both lists are complete.
  if (!signers.settled || !bundles.synced) return 'backoff';
  const clocksApart = await areClocksStillApart(component, () => get(state, name));
  const isListed = await isListedName(state, name);
  const snapshot = snapshotOf(state, name, { isListed, clocksApart });
  const plan = decide(snapshot);
  if (plan.kind === 'delete') state.lost.ours(plan.bundle.metadata.uid);
  const written = await act({ component, resource, plan, judgedAt: snapshot.now, clocksApart });
  if (written === 'backoff') return 'backoff';
  if (written !== undefined) bundles.applyWrite(written);
  measure(state, name);
  const at = 'requeueAt' in plan ? plan.requeueAt : undefined;
  return bundles.get(name) === undefined && at === undefined ? undefined : requeueAt(component, at);
}

function snapshotOf(
  { component, signers, bundles, publishers, lost }: AttesterState,
  name: string,
  known: Pick<BundleNameSnapshot, 'isListed' | 'clocksApart'>,
): BundleNameSnapshot {
  const bundle = bundles.get(name);
  return {
    ...known,
    name,
    bundle,
    lost: bundle === undefined ? lost.of(name) : undefined,
    signer: publishers.get(name),
    serving: signers.serving(bundle?.spec.signerName ?? ''),
    unreadable: bundle !== undefined && signers.faulty(publisherOf(bundle)) !== undefined,
    secretNamespace: component.secretNamespace,
    now: serverTime(component),
  };
}

/**
 * Reports whether the bundle's name is one of this installation: a served one, or one that our role
 * lists.
 */
async function isListedName(state: AttesterState, name: string): Promise<boolean> {
  const { component, bundles, publishers, managedNames, signers } = state;
  const bundle = bundles.get(name);
  if (publishers.has(name)) return true;
  if (bundle === undefined || !isManaged(bundle, component.secretNamespace)) return false;
  const isListed = await managedNames.review(name);
  const signer = signers.serving(bundle.spec.signerName ?? '');
  if (!isListed && signer !== undefined) report(state, signer);
  return isListed;
}

function get({ component, resource }: AttesterState, name: string): Promise<unknown> {
  const path = resource.object({ name });
  return component.client.request({ method: 'GET', path }).catch(ignoreNotFound);
}

/**
 * Updates the metrics for alerts on a published bundle. Skips an unreadable one, which is soon
 * repaired.
 */
function measure({ component, bundles, publishers }: AttesterState, name: string): void {
  const [bundle, publisher] = [bundles.get(name), publishers.get(name)];
  if (bundle === undefined || publisher === undefined) return;
  const found = publishedAnchors(bundle.spec.trustBundle);
  const anchors = [...found.values()].filter((each) => each !== undefined);
  if (anchors.length === 0) return;
  const signer = publisher.spec.signerName;
  const since = [...servedSince(bundle).values()];
  const { certificates, notAfter, published } = component.metrics.of(BUNDLE_SERIES);
  certificates.set({ signer }, found.size);
  notAfter.set({ signer }, Math.min(...anchors.map((each) => each.notAfter)) / 1000);
  published.set({ signer }, Math.max(0, ...since) / 1000);
}
