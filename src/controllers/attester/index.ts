// SPDX-License-Identifier: Apache-2.0
import { bundleName, type ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { SignerError } from '../../errors.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { runLoop, type ReconcileResult } from '../../kube/workqueue/run-loop.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { toOutcome } from '../../runtime/requests/error-outcome.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { areClocksStillApart, requeueAt, serverTime } from '../../runtime/component/server-time.ts';
import { createSigners } from '../../runtime/signers/signers.ts';
import { act } from './act.ts';
import { decide } from './decide.ts';
import { reportUnmanagedBundles } from './unmanaged-bundles.ts';
import { measureBundle } from './bundle-metrics.ts';
import { publisherOf } from './annotations.ts';
import { permissions } from './permissions.ts';
import { ignoreNotFound } from '../../kube/client/kube-error.ts';

/** Few bundles, each with one writer. */
const BUNDLE_WORKERS = 2;

/** Publishes the ClusterTrustBundles of the ClusterSigners that it serves. */
export function createAttester(component: Component, resource: Resource): Controller {
  const { queue } = component;
  const wanted = new Map<string, ClusterSigner>();
  const signers = createSigners(component, () => {
    const before = [...wanted.keys()];
    wanted.clear();
    for (const signer of signers.all()) {
      const { signerName, trustBundle } = signer.spec;
      if (trustBundle !== undefined) wanted.set(bundleName(signerName, trustBundle.name), signer);
      reportUnmanagedBundles(component, signer, bundles.list());
    }
    const served = bundles.list().map(({ metadata }) => metadata.name);
    for (const name of [...before, ...wanted.keys(), ...served]) queue.add(name);
  });
  const bundles = createReflector<ClusterTrustBundle>({
    ...component,
    path: resource.collection(),
    onEvent: (name, now, before) => {
      queue.add(name);
      const signer = signers.serving((now ?? before)?.spec.signerName ?? '');
      if (signer !== undefined) reportUnmanagedBundles(component, signer, bundles.list());
    },
  });

  component.shard.onChange(() => {
    for (const name of [...wanted.keys(), ...bundles.list().map(({ metadata }) => metadata.name)]) {
      queue.add(name);
    }
    for (const signer of signers.all()) reportUnmanagedBundles(component, signer, bundles.list());
  });

  async function handle(name: string): Promise<ReconcileResult> {
    if (!component.shard.owns(name)) return undefined;
    // Before both lists are whole, "nobody wants this bundle" would be a guess.
    if (!signers.settled || !bundles.synced) return 'backoff';
    const clocksApart = await areClocksStillApart(component, () => ask(name));
    const bundle = bundles.get(name);
    const now = serverTime(component);
    const plan = decide({
      name,
      bundle,
      signer: wanted.get(name),
      unreadable: bundle !== undefined && signers.faulty(publisherOf(bundle)) !== undefined,
      secretNamespace: component.secretNamespace,
      clocksApart,
      now,
    });
    const written = await act({ component, resource, plan, judgedAt: now, clocksApart });
    if (written === 'backoff') return 'backoff';
    if (written !== undefined) bundles.applyWrite(written);
    return again(name, 'requeueAt' in plan ? plan.requeueAt : undefined);
  }

  function ask(name: string): Promise<unknown> {
    return component.client
      .request({ method: 'GET', path: resource.object({ name }) })
      .catch(ignoreNotFound);
  }

  function again(name: string, at: number | undefined): ReconcileResult {
    const served = bundles.get(name);
    if (served === undefined && at === undefined) return undefined;
    const signer = wanted.get(name);
    if (served !== undefined && signer !== undefined) {
      measureBundle(component.metrics, signer.spec.signerName, served);
    }
    return requeueAt(component, at);
  }

  return {
    permissions: () => permissions(namesOf(signers.all(), component)),
    notReady: () =>
      [signers.reflector, bundles]
        .filter((each) => !each.synced || each.failure !== undefined)
        .map((each) => `ClusterSigners or bundles: ${each.failure ?? 'not listed yet'}`),
    run: async (signal) => {
      const watching = [signers.reflector.run(signal), bundles.run(signal)];
      const onError = (name: string, error: unknown): void =>
        tell(component, resource, name, error);
      await runLoop({ ...component, workers: BUNDLE_WORKERS, handle, onError }, signal);
      await Promise.all(watching);
    },
  };
}

function tell(component: Component, resource: Resource, name: string, error: unknown): void {
  if (!(error instanceof SignerError)) {
    component.log.error({ name, error: String(error) }, 'an unexpected error; the bundle waits');
    return;
  }
  const {
    message = '',
    reason,
    event,
  } = toOutcome(error, component.name, component.client.clockOffset());
  component.log.warn({ kind: 'ClusterTrustBundle', name, reason, error: message }, 'bundle waits');
  if (event === undefined) return;
  const regarding = { apiVersion: resource.apiVersion, kind: 'ClusterTrustBundle', name };
  component.events.record({ ...event, regarding });
}
