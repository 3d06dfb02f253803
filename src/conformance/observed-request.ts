// SPDX-License-Identifier: Apache-2.0
/** What became of one request, as the API server showed it: plain data, the same for every kind. */
import type { Condition } from '../api/request/conditions.ts';
import type { KeyType } from '../vocabulary.ts';
import type { KubeObject } from '../api/object/object.ts';

/** What a request asks for. */
export interface RequestedLeaf {
  /** Undefined for a key that no API names, such as RSA with 1024 bits. */
  readonly keyType: KeyType | undefined;
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly names: LeafNames;
  readonly usages: readonly string[];
  /** Undefined: left to the signer. */
  readonly lifetimeSeconds: number | undefined;
  /** Of a pod's request: who asks, as the API server vouches for it. */
  readonly pod?: { readonly namespace: string; readonly serviceAccount: string };
  /** Of a pod's request, where the signer names Services: those that select the pod, and some that do not. */
  readonly services?: {
    readonly namespace: string;
    readonly selecting: readonly string[];
    readonly others: readonly string[];
  };
}

/** Every name in the request, by kind. */
export interface LeafNames {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
}

/** A request without any name. */
export const NO_NAMES: LeafNames = {
  commonName: '',
  organizations: [],
  dnsNames: [],
  ipAddresses: [],
  uris: [],
  emails: [],
};

/** `approved` is never the state of a PodCertificateRequest: it needs no approval. */
export type RequestState = 'pending' | 'approved' | 'denied' | 'failed' | 'issued';

/** One version of the object. */
export interface ObjectVersion {
  /** Milliseconds since it was created, when it was seen. */
  readonly at: number;
  readonly resourceVersion: string;
  readonly state: RequestState;
  readonly conditions: readonly Condition[];
  /** The certificates; '' where there are none. */
  readonly pem: string;
  /** What is not the signer's: spec, labels, annotations, finalizers and owners, as JSON. */
  readonly immutableFields: string;
  /** RFC 3339, of a PodCertificateRequest's status. */
  readonly times?: {
    readonly notBefore?: string | undefined;
    readonly notAfter?: string | undefined;
    readonly beginRefreshAt?: string | undefined;
  };
  /** PEM, of a CertificateRequest's status. */
  readonly ca?: string;
  /** RFC 3339, of a CertificateRequest's status. */
  readonly failureTime?: string;
}

/** A request that the runner created, or that the API server rejected. */
export interface ObservedRequest {
  readonly requested: RequestedLeaf;
  /** In the order of their versions, the first as created; empty where it was refused. */
  readonly versions: readonly ObjectVersion[];
  /** Why the API server rejected it, as its error message. */
  readonly rejection?: string;
  /** No version can have been missed. */
  readonly isComplete: boolean;
  /** Versions that the runner itself made after creation: its approval or denial. */
  readonly runnerWrites: number;
  /** The server's clock at the last version: milliseconds since the epoch. */
  readonly endedAt: number;
  /** Milliseconds that an answer was waited for. */
  readonly waitedMs: number;
}

/** A scenario that the runner left out. */
export interface Skipped {
  /** Why there is nothing to judge. */
  readonly skipped: string;
}

/** What the runner observed of one scenario. */
export type ScenarioResult = ObservedRequest | Skipped;

/** Whether the runner left the scenario out. */
export function isSkipped(scenario: object): scenario is Skipped {
  return 'skipped' in scenario;
}

/** The last version; undefined where the request was refused at creation. */
export function lastOf(request: ObservedRequest): ObjectVersion | undefined {
  return request.versions.at(-1);
}

/** The first version in this state or, for `issued`, with certificates. */
export function firstOf(request: ObservedRequest, state: RequestState): ObjectVersion | undefined {
  return request.versions.find((each) => each.state === state);
}

/** The condition that ended a request, as `Type: Reason: message`, shortened. */
export function endText({ state, conditions }: ObjectVersion): string {
  const type = { denied: 'Denied', failed: 'Failed' }[state as string] ?? state;
  const found =
    conditions.find((each) => each.type === type) ??
    conditions.find((each) => each.type === 'Ready') ??
    conditions.at(-1);
  if (found === undefined) return state;
  return [found.type, found.reason, found.message]
    .filter((part) => part !== undefined && part !== '')
    .join(': ')
    .slice(0, MAX_EVIDENCE);
}

/** So much of foreign words is repeated. */
const MAX_EVIDENCE = 240;

/**
 * The fields that a signer must not change, as JSON: two versions with the same text differ in
 * status only.
 */
export function immutableFieldsOf(object: KubeObject & { readonly spec?: unknown }): string {
  const metadata = object.metadata as unknown as Readonly<Record<string, unknown>>;
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  return JSON.stringify({ labels, annotations, finalizers, ownerReferences, spec: object.spec });
}
