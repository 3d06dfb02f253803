// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import type { SignerObject } from '../../api/signer/cluster-signer.ts';
import { messageOf } from '../../errors.ts';
import type { FlowAssignment } from '../../kube/workqueue/fair-queue.ts';
import { createRateLimiter } from '../../kube/workqueue/rate-limiter.ts';
import { runLoop } from '../../kube/workqueue/run-loop.ts';
import type { Controller } from '../component/component.ts';
import { bySignerName } from '../signers/signer-set.ts';
import { createSignerWakes, type SignerWakes } from '../signers/signer-wakes.ts';
import { createOrphanTakeover } from './orphan-takeover.ts';
import { createPendingRequests } from './pending-requests.ts';
import { reconcile, type Reconciler } from './reconcile.ts';
import { servedSigners, type RequestControllerInit } from './request-controller-init.ts';
import { createRequestState, onWatchEvent, requestKey } from './request-state.ts';

/**
 * Like client-go's workqueue: a request that waits for a cause of its own is retried sooner only when it
 * changes.
 */
const FIRST_REQUEST_RETRY_MS = 5;
const MAX_REQUEST_RETRY_MS = 1_000_000;
/** For all retries together: a tenth of what a core can decide and an API server can store. */
const RETRIES = { burst: 1_000, perSecond: 100 };

/** Dropping a deleted request is quick, and is charged to no namespace. */
const GONE: FlowAssignment = { distinguishers: [] };

/** The controller that all kinds share: watch, queue, reconcile, report. */
export function createRequestController<T extends KubeObject, S extends SignerObject>(
  init: RequestControllerInit<T, S>,
): Controller {
  const { component, signers, sources, discovery } = init;
  const state = createRequestState(component);
  const requests = createPendingRequests<T>({
    ...init,
    onKey: (key, why) => {
      if (!onWatchEvent(state, key, why)) return;
      component.tracing?.arrived(key);
      component.queue.add(key);
    },
  });
  const takeover = createOrphanTakeover({ component, pending: () => requests.all() });
  const reconciler: Reconciler<T, S> = { init, state, requests, takeover };
  const wakes = subscribe(reconciler);
  return {
    permissions: () => init.permissions(servedSigners(init)),
    notReady: () => [
      ...(signers.settled ? [] : [`ClusterSigners: ${signers.failure ?? 'not listed yet'}`]),
      ...(discovery?.notReady() ?? []),
      ...requests.notReady(),
      ...(sources?.notReady() ?? []),
    ],
    warnings: () => [...(signers.warnings?.() ?? []), ...(discovery?.warnings() ?? [])],
    run: async (signal) => {
      const watching = [signers.run(signal), takeover.run(signal), discovery?.run(signal)];
      await work(reconciler, signal);
      wakes.stop();
      await Promise.all([...watching, requests.stop(), sources?.stop()]);
    },
  };
}

/** Connects what changes the set of watched requests, and what wakes the requests of a signer name. */
function subscribe<T extends KubeObject, S extends SignerObject>({
  init,
  requests,
}: Reconciler<T, S>): SignerWakes {
  const { component, signers, sources, discovery, selectionOf = bySignerName } = init;
  const { queue } = component;

  function look(signerName: string): void {
    for (const key of requests.keysOf(signerName)) queue.add(key);
  }

  const wakes = createSignerWakes(component, look);
  const { wake } = wakes;

  function serve(): void {
    const serving = servedSigners(init);
    sources?.serve(serving);
    requests.serve(new Map(serving.map((each) => [each.spec.signerName, selectionOf(each)])));
  }

  signers.onChange((signerNames) => {
    serve();
    for (const name of signerNames) wake(name);
  });
  discovery?.onChange(serve);
  sources?.onChange(wake);
  sources?.onAnswer?.((signerName, storeKey) => {
    const key = requestKey(signerName, storeKey);
    if (requests.peek(key) !== undefined) queue.add(key);
  });
  component.shard.onChange(() => {
    for (const { spec } of servedSigners(init)) look(spec.signerName);
  });
  queue.assignFlows((key) => {
    const kept = requests.peek(key);
    return kept === undefined ? GONE : init.fairnessKeyOf(kept);
  });
  return wakes;
}

/** Takes keys from the queue until `signal` is aborted. */
function work<T extends KubeObject, S extends SignerObject>(
  reconciler: Reconciler<T, S>,
  signal: AbortSignal,
): Promise<void> {
  const { init, state } = reconciler;
  const { component, workers } = init;
  const { clock, random } = component;
  const overall = { ...RETRIES, clock };
  const delays = { firstMs: FIRST_REQUEST_RETRY_MS, maxMs: MAX_REQUEST_RETRY_MS };
  return runLoop(
    {
      ...component,
      limiter: createRateLimiter({ ...delays, random, overall }),
      workers,
      handle: (key) => reconcile(reconciler, key),
      onError: (key, error) => {
        // The error says nothing about the cause that the key waited for: another key must retry.
        state.waiting.forget(key);
        const stack = error instanceof Error ? error.stack : undefined;
        component.log.error(
          { key, error: messageOf(error), stack },
          'unexpected error, request is retried',
        );
      },
    },
    signal,
  );
}
