// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { SignerObject, SignerSpec } from '#api/signer/cluster-signer.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { ReadMessage } from '#kube/watch/watch-message.ts';
import type { FlowAssignment } from '#kube/workqueue/fair-queue.ts';
import type { ApiDiscovery } from '#component/api-discovery.ts';
import type { Component } from '#component/contract.ts';
import type { RequestSelector, SignerSet } from '#component/signers/signer-set.ts';
import type { Intern } from './interner.ts';
import type { RequestOutcome } from './outcome.ts';
import type { RequestKind } from './metrics.ts';

/** Differences between the kinds of requests, `T`, and of their signers, `S`. */
export interface RequestControllerInit<T, S> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  /** The limit of requests in progress. Default: as many as the concurrency limiter allows. */
  readonly workers?: number;
  /**
   * Reports whether a signer serves this kind. If not, neither its requests nor its CA are read.
   */
  readonly serves: (spec: SignerSpec) => boolean;
  /** Selects the requests of a signer. Default: those of its signer name, in all namespaces. */
  readonly selectionOf?: (signer: S) => RequestSelector;
  /**
   * Present for a kind that the API server may not serve. Until it does, no request is watched and
   * no CA read.
   */
  readonly discovery?: ApiDiscovery;
  /** Reports whether a request still needs this component. */
  readonly isPending: (request: T) => boolean;
  /**
   * Returns the flow of a request, and its deadline. Receives only the `retainedFields` of a large
   * request.
   */
  readonly fairnessKeyOf: (request: T) => FlowAssignment;
  /** Returns the fields to keep of a request that is not cached whole. */
  readonly retainedFields: (request: T, intern: Intern) => object;
  /** Called with a request that no longer needs this component. */
  readonly onFinished?: (request: T) => void;
  /** Decodes a request from protobuf. If undefined, the kind is read as JSON. */
  readonly readMessage?: ReadMessage<T> | undefined;
  /**
   * Runs before `handle`, even if the signer cannot sign now. If it resolves to an outcome,
   * `handle` does not run.
   *
   * @throws SignerError the reason why the request waits
   */
  readonly begin?: ((request: T, signer: S) => Promise<RequestOutcome | undefined>) | undefined;
  /**
   * Handles one request of a signer that serves.
   *
   * @throws SignerError the reason why the request waits
   */
  readonly handle: (request: T, signer: S) => Promise<RequestOutcome>;
  /**
   * Shows in its status why a request waits or is undecided.
   *
   * @returns the request as written, or undefined if there is nothing to write
   * @throws SignerError why it cannot be written. The request is then reconciled again.
   */
  readonly showWaiting?:
    ((request: T, outcome: RequestOutcome) => Promise<T | undefined>) | undefined;
  /** Returns the objects of an Event about a request. */
  readonly regarding: (request: T) => Pick<EventDetails, 'regarding' | 'related'>;
  /** Returns the permissions for serving these signers. */
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  readonly signers: SignerSet<S>;
  /** Other watches for the served signers: CA Secrets and bundles. */
  readonly sources?: Sources<S> | undefined;
  /**
   * Called when the request `namespace/name` is no longer in the cache.
   *
   * @throws SignerError to be called again
   */
  readonly onGone?: (key: string) => Promise<void>;
}

/** Other sources that a signer's requests wait for. */
export interface Sources<S> {
  /** Watches the CAs of these signers, and no others. */
  serve(signers: readonly S[]): void;
  /**
   * Returns why the signer's requests wait until the signer or its CA changes, or undefined if they
   * do not wait.
   */
  readonly waitsFor?: (signer: S) => string | undefined;
  /** Reports whether the signer's CA and bundle were listed once, or cannot be listed now. */
  listed(signer: S): boolean;
  /** Calls `listener` with the signer name whose CA or bundle changed. */
  onChange(listener: (signerName: string) => void): void;
  /**
   * Calls `listener` with the signer name and `namespace/name` of one request that may have an
   * answer now. The listener returns false if the request is gone.
   */
  onAnswer?(listener: (signerName: string, storeKey: string) => boolean): void;
  /** Returns why the component is not ready, or an empty list. */
  notReady(): readonly string[];
  stop(): Promise<void>;
}

/**
 * Returns the signers that serve this kind of requests, or none while the API server does not serve
 * the kind.
 */
export function servedSigners<T extends KubeObject, S extends SignerObject>({
  discovery,
  signers,
  serves,
}: Pick<RequestControllerInit<T, S>, 'discovery' | 'signers' | 'serves'>): readonly S[] {
  if (discovery?.served === false) return [];
  return signers.all().filter((each) => isIssuing(each) && serves(each.spec));
}

/** Returns the signer that answers the requests of a signer name, if any. */
export function servingSigner<T extends KubeObject, S extends SignerObject>(
  { signers }: Pick<RequestControllerInit<T, S>, 'signers'>,
  signerName: string,
): S | undefined {
  const signer = signers.serving(signerName);
  return signer !== undefined && isIssuing(signer) ? signer : undefined;
}

/**
 * Reports whether a signer may issue. One that is being deleted may not, although a finalizer can
 * keep the object for long. It keeps its signer name, and its bundle, until it is gone.
 */
function isIssuing({ metadata }: SignerObject): boolean {
  return metadata.deletionTimestamp === undefined;
}
