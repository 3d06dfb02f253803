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

/** What one kind of requests, `T`, and the kind of its signers, `S`, do in their own way. */
export interface RequestControllerInit<T, S> {
  readonly component: Component;
  readonly kind: RequestKind;
  readonly resource: Resource;
  readonly workers: number;
  /** Whether a signer takes such requests at all; neither the requests nor the CA of others are read. */
  readonly serves: (spec: SignerSpec) => boolean;
  /** Which requests are a signer's; default: those of its signer name, in all namespaces. */
  readonly selectionOf?: (signer: S) => RequestSelector;
  /** Of a kind that an API server need not serve; while it does not, nothing is watched and no CA read. */
  readonly discovery?: ApiDiscovery;
  /** Whether a request still needs this component. */
  readonly isPending: (request: T) => boolean;
  /** The queue that a request waits in, and its deadline; sees no more than `retainedFields` of a large one. */
  readonly fairnessKeyOf: (request: T) => FlowAssignment;
  /** What stays in memory of a request that is not kept whole. */
  readonly retainedFields: (request: T, intern: Intern) => object;
  /** Called with a request that needs this component no longer. */
  readonly onFinished?: (request: T) => void;
  /** Reads a request in protobuf, where that is worth it. */
  readonly readMessage?: ReadMessage<T> | undefined;
  /**
   * What comes first, whether the signer can sign now or not; undefined: nothing.
   *
   * @throws SignerError why the request waits
   */
  readonly begin?: ((request: T) => Promise<RequestOutcome | undefined>) | undefined;
  /**
   * Answers one request of a signer that serves.
   *
   * @throws SignerError why the request waits
   */
  readonly handle: (request: T, signer: S) => Promise<RequestOutcome>;
  /** The object of an Event about a request. */
  readonly regarding: (request: T) => Pick<EventDetails, 'regarding' | 'related'>;
  /** The permissions that serving these signers takes. */
  readonly permissions: (signers: readonly S[]) => readonly PermissionRule[];
  readonly signers: SignerSet<S>;
  /** More to be watched for the served signers: CA Secrets and bundles. */
  readonly sources?: Sources<S> | undefined;
  /** The request `namespace/name` left the cache. */
  readonly onGone?: (key: string) => void;
}

/** What else a signer's requests wait for. */
export interface Sources<S> {
  /** Watches what these signers sign with, and nothing else. */
  serve(signers: readonly S[]): void;
  /** Why the signer's requests wait until it, or what it signs with, changes; undefined: they do not. */
  readonly waitsFor?: (signer: S) => string | undefined;
  /** Whether the signer's CA and bundle were listed once, or cannot be listed now. */
  listed(signer: S): boolean;
  /** Calls `listener` with the signer name whose CA or bundle changed. */
  onChange(listener: (signerName: string) => void): void;
  /** Why the component is not ready; empty where it is. */
  notReady(): readonly string[];
  stop(): Promise<void>;
}

/** The served signers that take this kind of requests, while the API server has the kind. */
export function servedSigners<T extends KubeObject, S extends { readonly spec: SignerSpec }>({
  discovery,
  signers,
  serves,
}: Pick<RequestControllerInit<T, S>, 'discovery' | 'signers' | 'serves'>): readonly S[] {
  return discovery?.served === false ? [] : signers.all().filter(({ spec }) => serves(spec));
}
