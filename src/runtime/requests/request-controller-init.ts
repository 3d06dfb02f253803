// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '../../api/object/object.ts';
import type { SignerSpec } from '../../api/signer/cluster-signer.ts';
import type { EventDetails } from '../../kube/events/body.ts';
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { Resource } from '../../kube/resource/resource.ts';
import type { ReadMessage } from '../../kube/watch/watch-message.ts';
import type { FlowAssignment } from '../../kube/workqueue/fair-queue.ts';
import type { ApiDiscovery } from '../component/api-discovery.ts';
import type { Component } from '../component/component.ts';
import type { RequestKind } from '../component/metrics.ts';
import type { RequestSelector, SignerSet } from '../signers/signer-set.ts';
import type { Intern } from './interner.ts';
import type { RequestOutcome } from './outcome.ts';

/** What differs between the kinds of requests, `T`, and of their signers, `S`. */
export interface RequestControllerInit<T, S> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  readonly workers: number;
  /** Whether a signer serves this kind at all. If not, neither its requests nor its CA are read. */
  readonly serves: (spec: SignerSpec) => boolean;
  /** The requests of a signer; default: those of its signer name, in all namespaces. */
  readonly selectionOf?: (signer: S) => RequestSelector;
  /** For a kind that the API server may not serve: until it does, no request is watched and no CA read. */
  readonly discovery?: ApiDiscovery;
  /** Whether a request still needs this component. */
  readonly isPending: (request: T) => boolean;
  /** The flow of a request, and its deadline. Gets only the `retainedFields` of a large request. */
  readonly fairnessKeyOf: (request: T) => FlowAssignment;
  /** What stays in memory of a request that is not cached whole. */
  readonly retainedFields: (request: T, intern: Intern) => object;
  /** Called with a request that no longer needs this component. */
  readonly onFinished?: (request: T) => void;
  /** Decodes a request from protobuf; undefined: the kind is read as JSON. */
  readonly readMessage?: ReadMessage<T> | undefined;
  /**
   * Runs before `handle`, whether the signer can sign now or not. If it resolves to an outcome, `handle` does not
   * run.
   *
   * @throws SignerError why the request waits
   */
  readonly begin?: ((request: T) => Promise<RequestOutcome | undefined>) | undefined;
  /**
   * Processes one request of a signer that serves.
   *
   * @throws SignerError why the request waits
   */
  readonly handle: (request: T, signer: S) => Promise<RequestOutcome>;
  /** The object of an Event about a request. */
  readonly regarding: (request: T) => Pick<EventDetails, 'regarding' | 'related'>;
  /** The permissions that serving these signers takes. */
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  readonly signers: SignerSet<S>;
  /** What else to watch for the served signers: CA Secrets and bundles. */
  readonly sources?: Sources<S> | undefined;
  /**
   * The request `namespace/name` is no longer in the cache.
   *
   * @throws SignerError why it is called again
   */
  readonly onGone?: (key: string) => Promise<void>;
}

/** What else a signer's requests wait for. */
export interface Sources<S> {
  /** Watches what these signers sign with, and nothing else. */
  serve(signers: readonly S[]): void;
  /** Why the signer's requests wait until the signer or its CA changes; undefined: they do not wait. */
  readonly waitsFor?: (signer: S) => string | undefined;
  /** Whether the signer's CA and bundle were listed once, or cannot be listed now. */
  listed(signer: S): boolean;
  /** Calls `listener` with the signer name whose CA or bundle changed. */
  onChange(listener: (signerName: string) => void): void;
  /** Calls `listener` with the signer name, and `namespace/name`, of the one request that may have an answer now. */
  onAnswer?(listener: (signerName: string, storeKey: string) => void): void;
  /** Why the component is not ready; empty if it is. */
  notReady(): readonly string[];
  stop(): Promise<void>;
}

/** The signers that serve this kind of requests; none while the API server does not serve the kind. */
export function servedSigners<T extends KubeObject, S extends { readonly spec: SignerSpec }>({
  discovery,
  signers,
  serves,
}: Pick<RequestControllerInit<T, S>, 'discovery' | 'signers' | 'serves'>): readonly S[] {
  return discovery?.served === false ? [] : signers.all().filter(({ spec }) => serves(spec));
}
