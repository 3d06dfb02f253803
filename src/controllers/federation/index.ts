// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../../api/object/cluster-trust-bundle.ts';
import { federatedBundleName } from '../../api/object/federated-bundle.ts';
import { connectGuard } from '../../egress/connect-guard.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import { runLoop } from '../../kube/workqueue/run-loop.ts';
import type { Component, Controller } from '../../runtime/component/component.ts';
import { namesOf } from '../../runtime/rbac/permission-names.ts';
import { reportRetry } from '../../runtime/requests/error-outcome.ts';
import { createClusterSigners } from '../../runtime/signers/cluster-signers.ts';
import { leftOver } from './decide.ts';
import type { Federation, FederationInit } from './federation.ts';
import { latestBundle } from './known-anchors.ts';
import { createLooks } from './look.ts';
import { permissions } from './permissions.ts';
import { reconcile } from './reconcile.ts';
import type { Told } from './tell.ts';

/** Nobody waits for an endpoint in them. */
const FEDERATION_WORKERS = 4;

/** Keeps a ClusterTrustBundle for each foreign trust domain, as its bundle endpoint says. */
export function createFederation(
  component: Component,
  resource: Resource,
  init: FederationInit,
): Controller {
  const stop = new AbortController();
  const federation = assemble(component, resource, init, stop.signal);
  const { signers, bundles, told, looks } = federation;
  return {
    signers: signers.all,
    permissions: () => {
      return permissions({ ...namesOf(signers.all(), component), federated: namedBy(init) });
    },
    notReady: () => [
      ...(signers.settled ? [] : [`ClusterSigners: ${signers.failure ?? 'not listed yet'}`]),
      ...(bundles.synced ? [] : [`bundles: ${bundles.failure ?? 'not listed yet'}`]),
    ],
    warnings: () => [
      ...[...told].flatMap(([domain, { problem }]) =>
        problem === undefined ? [] : [`trust domain ${domain}: ${problem}`],
      ),
      ...leftOver(bundles.list(), new Set(namedBy(init)), component.secretNamespace).map(
        (domain) =>
          `trust domain ${domain}: LeftOver: nobody looks after ClusterTrustBundle ${federatedBundleName(domain)} any more, and who mounts it trusts it: delete it, or name the trust domain by --ended-trust-domain`,
      ),
    ],
    run: async (signal) => {
      signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
      const watching = [signers.run(signal), bundles.run(signal)];
      enqueueAll(component, init);
      const onError = (key: string, error: unknown): void => {
        const named = { kind: 'ClusterTrustBundle', name: federatedBundleName(key) };
        const regarding = { apiVersion: resource.apiVersion, ...named };
        reportRetry(component, error, { noun: 'bundle', named, regarding });
      };
      const handle = (key: string): ReturnType<typeof reconcile> => reconcile(federation, key);
      await runLoop({ ...component, workers: FEDERATION_WORKERS, handle, onError }, signal);
      await Promise.all([...watching, looks.ended()]);
    },
  };
}

/** Trust domains that are fetched, or ended. */
function namedBy({ domains, endedDomains }: FederationInit): readonly string[] {
  return [...domains.map(({ trustDomain }) => trustDomain), ...endedDomains];
}

function enqueueAll({ queue }: Component, init: FederationInit): void {
  for (const each of namedBy(init)) queue.add(each);
}

function assemble(
  component: Component,
  resource: Resource,
  init: FederationInit,
  signal: AbortSignal,
): Federation {
  const signers = createClusterSigners(component);
  const bundles = createReflector<ClusterTrustBundle>({
    ...component,
    path: resource.collection(),
    onEvent: (name) => {
      const found = namedBy(init).find((each) => federatedBundleName(each) === name);
      if (found !== undefined) component.queue.add(found);
      // What is ours may have changed.
      else enqueueAll(component, init);
    },
  });
  const told = new Map<string, Told>();
  const guard = connectGuard(init.networks, {
    called: 'bundle endpoints',
    flag: '--federation-network',
  });
  const latest = (trustDomain: string): string | undefined =>
    latestBundle({ component, told, bundles }, trustDomain);
  const onAnswer = (trustDomain: string): void => {
    component.queue.add(trustDomain);
  };
  const { directory } = init;
  const looks = createLooks({ directory, latest, guard, signal, onAnswer });
  const renew = (): void => {
    enqueueAll(component, init);
  };
  signers.onChange(renew);
  component.shard.onChange(renew);
  return { component, init, resource, signers, bundles, told, looks };
}
