// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { messageOf } from '#base/errors.ts';
import type { FlowAssignment } from '#kube/workqueue/fair-queue.ts';
import { createRateLimiter } from '#kube/workqueue/rate-limiter.ts';
import { runLoop } from '#kube/workqueue/run-loop.ts';
import type { Controller } from '#component/contract.ts';
import { bySignerName, type RequestSelector } from '#component/signers/signer-set.ts';
import { createSignerWakes, type SignerWakes } from '#component/signers/signer-wakes.ts';
import { createOrphanTakeover } from './orphan-takeover.ts';
import { createPendingRequests } from './pending-requests.ts';
import { reconcile, type Reconciler } from './reconcile.ts';
import {
  servedSigners,
  servingSigner,
  type RequestControllerInit,
} from './request-controller-init.ts';
import { partsOf, requestKey } from './request-key.ts';
import { createRequestState, onWatchEvent } from './request-state.ts';
import * as messages from './messages.ts';

/**
 * Retry delays like client-go's workqueue. A request with a cause of its own is retried sooner only
 * when it changes.
 */
const FIRST_REQUEST_RETRY_MS = 5;
const MAX_REQUEST_RETRY_MS = 1_000_000;
/**
 * Rate of all retries of a flow: a tenth of what a core can decide and an API server can store. One
 * rate for all flows would let the waiting requests of one delay the retries of the others.
 */
const RETRIES = { burst: 1_000, perSecond: 100 };

/** Dropping a deleted request is quick, and charged to no namespace. */
const GONE: FlowAssignment = { distinguishers: [] };

/** Creates the controller that all kinds share: watch, queue, reconcile, report. */
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
      ...(signers.settled ? [] : [messages.unlistedSigners(signers.failure)]),
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

/**
 * Connects the changes of the set of watched requests, and the wakes of a signer name's requests.
 */
function subscribe<T extends KubeObject, S extends SignerObject>({
  init,
  requests,
}: Reconciler<T, S>): SignerWakes {
  const { component, signers, sources, discovery, selectionOf = bySignerName } = init;
  const { queue } = component;

  function look(signerName: string): void {
    for (const key of requests.keysOf(signerName)) queue.add(key);
  }

  const isOfNamespace = (signerName: string): boolean => {
    const signer = servingSigner(init, signerName);
    return signer !== undefined && isNamespaced(signer);
  };
  const wakes = createSignerWakes(component, { isOfNamespace, look });
  const { wake } = wakes;

  function serve(): void {
    const serving = servedSigners(init);
    sources?.serve(serving);
    const selectorOf = (signer: S): RequestSelector => ({
      ...selectionOf(signer),
      isOfNamespace: isNamespaced(signer),
    });
    requests.serve(new Map(serving.map((each) => [each.spec.signerName, selectorOf(each)])));
  }

  signers.onChange((signerNames) => {
    serve();
    for (const name of signerNames) wake(name);
  });
  discovery?.onChange(serve);
  sources?.onChange(wake);
  sources?.onAnswer?.((signerName, storeKey) => {
    if (requests.peek({ signerName, storeKey }) === undefined) return false;
    queue.add(requestKey(signerName, storeKey));
    return true;
  });
  component.shard.onChange(() => {
    for (const { spec } of servedSigners(init)) look(spec.signerName);
  });
  queue.assignFlows((key) => assignmentOf({ init, requests }, key));
  return wakes;
}

function assignmentOf<T extends KubeObject, S extends SignerObject>(
  { init, requests }: Pick<Reconciler<T, S>, 'init' | 'requests'>,
  key: string,
): FlowAssignment {
  const kept = requests.peek(partsOf(key));
  return kept === undefined ? GONE : init.fairnessKeyOf(kept);
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
  const flowOf = (key: string): string => assignmentOf(reconciler, key).distinguishers[0] ?? '';
  const delays = { firstMs: FIRST_REQUEST_RETRY_MS, maxMs: MAX_REQUEST_RETRY_MS };
  return runLoop(
    {
      ...component,
      limiter: createRateLimiter({ ...delays, random, overall, flowOf }),
      workers,
      handle: (key) => reconcile(reconciler, key),
      onError: (key, error) => {
        // The error does not concern the cause that the key waited for, so another key must retry.
        state.waiting.forget(key);
        const stack = error instanceof Error ? error.stack : undefined;
        component.log.error({ key, error: messageOf(error), stack }, messages.UNEXPECTED_ERROR);
      },
    },
    signal,
  );
}
