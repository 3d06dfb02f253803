// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { federatedBundleName } from '#api/object/federated-bundle.ts';
import { connectGuard } from '#base/egress/connect-guard.ts';
import type { Resource } from '#kube/resource/resource.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { runLoop } from '#kube/workqueue/run-loop.ts';
import type { Component, Controller } from '#component/contract.ts';
import { namesOf } from '#component/rbac/permission-names.ts';
import { reportRetry } from '#requests/loop/error-outcome.ts';
import { createClusterSigners } from '#component/signers/cluster-signers.ts';
import { orphanedDomains } from './decide.ts';
import type { Federation, FederationInit } from './federation.ts';
import { latestBundle } from './known-anchors.ts';
import { createBundleFetcher } from './bundle-fetcher.ts';
import { permissions } from './permissions.ts';
import { reconcile } from './reconcile.ts';
import type { FetchState } from './report-change.ts';
import * as messages from './messages.ts';

/** Workers never wait for an endpoint, so few are enough. */
const FEDERATION_WORKERS = 4;

/** Keeps a ClusterTrustBundle for each foreign trust domain, in step with its bundle endpoint. */
export function createFederation(
  component: Component,
  resource: Resource,
  init: FederationInit,
): Controller {
  const stop = new AbortController();
  const federation = assemble(component, resource, init, stop.signal);
  const { signers, bundles, fetchStates, fetcher } = federation;
  return {
    signers: signers.all,
    permissions: () => {
      return permissions({ ...namesOf(signers.all(), component), federated: namedBy(init) });
    },
    notReady: () => [
      ...(signers.settled ? [] : [messages.unlistedSigners(signers.failure)]),
      ...(bundles.synced ? [] : [messages.unlistedBundles(bundles.failure)]),
    ],
    warnings: () => [
      ...[...fetchStates].flatMap(([domain, { problem }]) =>
        problem === undefined ? [] : [messages.ofTrustDomain(domain, problem)],
      ),
      ...orphanedDomains(bundles.list(), new Set(namedBy(init)), component.secretNamespace).map(
        (domain) => messages.orphanedDomain(domain, federatedBundleName(domain)),
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
      await Promise.all([...watching, fetcher.ended()]);
    },
  };
}

/** Returns the trust domains that are fetched or ended. */
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
      // Our own CAs may have changed.
      else enqueueAll(component, init);
    },
  });
  const fetchStates = new Map<string, FetchState>();
  const guard = connectGuard(init.networks, {
    called: messages.BUNDLE_ENDPOINTS,
    flag: 'federation.networks, --federation-network',
  });
  const latest = (trustDomain: string): string | undefined =>
    latestBundle({ component, fetchStates, bundles }, trustDomain);
  const onAnswer = (trustDomain: string): void => {
    component.queue.add(trustDomain);
  };
  const { directory, proxy } = init;
  const fetcher = createBundleFetcher({ directory, latest, guard, proxy, signal, onAnswer });
  const renew = (): void => {
    enqueueAll(component, init);
  };
  signers.onChange(renew);
  component.shard.onChange(renew);
  return { component, init, resource, signers, bundles, fetchStates, fetcher };
}
