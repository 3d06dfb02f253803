// SPDX-License-Identifier: Apache-2.0
import type { ClusterSigner } from '../api/cluster-signer.ts';
import type { KubeObject } from '../api/object.ts';
import { SignerError, messageOf } from '../errors.ts';
import type { EventNote } from '../kube/event-body.ts';
import type { Place } from '../kube/fair-order.ts';
import type { PermissionRule } from '../kube/permissions.ts';
import type { Resource } from '../kube/resource.ts';
import { runLoop, type Again } from '../kube/run-loop.ts';
import type { Component, Controller } from './component.ts';
import { explain } from './explain.ts';
import type { Outcome } from './outcome.ts';
import type { PermissionNames } from './permission-names.ts';
import { namesOf } from './permission-names.ts';
import type { RequestKind } from './request-metrics.ts';
import { createRequests } from './requests.ts';
import { createSigners } from './signers.ts';

export interface RequestControllerInit<T> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  readonly workers: number;
  readonly pending: (request: T) => boolean;
  /** Whose requests it waits among, and until when it can; of what `stays`. */
  readonly placeOf: (request: T) => Place;
  readonly stays: (request: T) => object;
  readonly onFinished?: (request: T) => void;
  /** Works on one request of a signer that serves. Throws what went wrong. */
  readonly handle: (request: T, signer: ClusterSigner) => Promise<Outcome>;
  /** Whom an Event about a request regards. */
  readonly regarding: (request: T) => Pick<EventNote, 'regarding' | 'related'>;
  readonly permissions: (names: PermissionNames) => readonly PermissionRule[];
  /** More to be watched for the served signers: CA Secrets and bundles. */
  readonly sources?: Sources | undefined;
  /** The request `namespace/name` left the cache. */
  readonly onGone?: (key: string) => void;
}

/** What else a signer's requests wait for. */
export interface Sources {
  serve(signers: readonly ClusterSigner[]): void;
  /** Whether its CA and bundle have been read once, or cannot be read now. */
  listed(signer: ClusterSigner): boolean;
  /** Called with the signer name whose CA or bundle changed. */
  onChange(listener: (signerName: string) => void): void;
  notReady(): readonly string[];
  stop(): Promise<void>;
}

/** What has gone is forgotten quickly, and is nobody's. */
const NOWHERE: Place = { flows: [] };

/** The loop that approver, signer and pcr-issuer share: watch, queue, handle, tell. */
export function createRequestController<T extends KubeObject>(
  init: RequestControllerInit<T>,
): Controller {
  const { component, sources } = init;
  const { queue } = component;
  const requests = createRequests<T>({ ...init, onKey: queue.add });
  const wake = (signerName: string): void => {
    for (const key of requests.keysOf(signerName)) queue.add(key);
  };
  const signers = createSigners(component, (_names, signerNames) => {
    const serving = signers.all();
    sources?.serve(serving);
    requests.serve(serving.map((each) => each.spec.signerName));
    for (const name of signerNames) wake(name);
  });
  sources?.onChange(wake);
  queue.arrange((key) => {
    const kept = requests.peek(key);
    return kept === undefined ? NOWHERE : init.placeOf(kept);
  });

  /** @returns undefined where it has gone, 'unread' where the API server did not say */
  async function read(key: string): Promise<T | 'unread' | undefined> {
    try {
      return await requests.load(key);
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      component.log.warn({ key, error: error.message }, 'a request could not be read; it waits');
      return 'unread';
    }
  }

  async function look(request: T, signer: ClusterSigner): Promise<Outcome> {
    try {
      return await init.handle(request, signer);
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      return explain(error, component.name);
    }
  }

  async function handle(key: string): Promise<Again> {
    const request = await read(key);
    if (request === 'unread') return 'backoff';
    const signer = signers.serving(key.slice(0, key.indexOf(' ')));
    if (request === undefined || signer === undefined) {
      init.onGone?.(key.slice(key.indexOf(' ') + 1));
      return undefined;
    }
    // At start all lists run at once: what its people would be told before is not known to be true.
    if (sources?.listed(signer) === false) return 'backoff';
    const outcome = await look(request, signer);
    if (outcome.written !== undefined)
      requests.observe(signer.spec.signerName, outcome.written as T);
    report(init, request, signer, outcome);
    return outcome.outcome === 'waiting' ? 'backoff' : undefined;
  }

  return {
    permissions: () => init.permissions(namesOf(signers.all())),
    notReady: () => [
      ...(signers.settled
        ? []
        : [`ClusterSigners: ${signers.reflector.failure ?? 'not listed yet'}`]),
      ...requests.notReady(),
      ...(sources?.notReady() ?? []),
    ],
    run: async (signal) => {
      const watching = signers.reflector.run(signal);
      await runLoop(
        {
          ...component,
          workers: init.workers,
          handle,
          onError: (key, error) => {
            const fields = {
              key,
              error: messageOf(error),
              stack: error instanceof Error ? error.stack : undefined,
            };
            component.log.error(fields, 'an unexpected error; the request waits');
          },
        },
        signal,
      );
      await Promise.all([watching, requests.stop(), sources?.stop()]);
    },
  };
}

/** One log line a decision, one count, and an Event where people should hear of it. */
function report<T extends KubeObject>(
  init: RequestControllerInit<T>,
  request: T,
  signer: ClusterSigner,
  outcome: Outcome,
): void {
  if (outcome.outcome === 'ignored') return;
  const { component, kind } = init;
  const { signerName } = signer.spec;
  const { metadata } = request;
  component.metrics.outcome({ kind, signer: signerName, ...outcome });
  const seconds = (component.clock() - Date.parse(metadata.creationTimestamp)) / 1000;
  if (outcome.written !== undefined) {
    component.metrics.duration(kind, signerName, Math.max(0, seconds));
  }
  const level = outcome.outcome === 'waiting' ? 'warn' : 'info';
  component.log[level](
    {
      kind,
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
      signer: signerName,
      outcome: outcome.outcome,
      reason: outcome.reason,
      detail: outcome.message,
    },
    `request ${outcome.outcome}`,
  );
  if (outcome.event !== undefined) {
    component.events.record({ ...init.regarding(request), ...outcome.event });
  }
}
