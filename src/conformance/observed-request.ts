// SPDX-License-Identifier: Apache-2.0
/** Defines what the API server showed of one request: plain data, the same for every kind. */
import { membersOf } from '#base/record.ts';
import type { Condition } from '#api/request/conditions.ts';
import type { KeyType } from '#base/vocabulary.ts';
import type { KubeObject } from '#api/object/object.ts';

/** The contents of a request. */
export interface RequestedLeaf {
  /** Undefined for a key without a name in the API, such as RSA with 1024 bits. */
  readonly keyType: KeyType | undefined;
  /** DER SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly names: LeafNames;
  readonly usages: readonly string[];
  /** Undefined if the request leaves it to the signer. */
  readonly lifetimeSeconds: number | undefined;
  /** The requester of a pod's request, as the API server verifies it. */
  readonly pod?: { readonly namespace: string; readonly serviceAccount: string };
  /**
   * The Services around a pod's request, if the signer names Services: those that select the pod,
   * and some that do not.
   */
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
  /** The time of its observation, in milliseconds since the creation. */
  readonly at: number;
  readonly resourceVersion: string;
  readonly state: RequestState;
  readonly conditions: readonly Condition[];
  /** The certificates, or '' if there are none. */
  readonly pem: string;
  /**
   * The fields that do not belong to the signer, as JSON: spec, labels, annotations, finalizers and
   * owners.
   */
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
  /** The versions in order, the first as created. Empty if the API server rejected the request. */
  readonly versions: readonly ObjectVersion[];
  /** The API server's error message of a rejection. */
  readonly rejection?: string;
  /** True if the runner cannot have missed a version. */
  readonly isComplete: boolean;
  /** The number of versions that the runner itself wrote after creation: its approval or denial. */
  readonly runnerWrites: number;
  /** The server's clock at the creation: milliseconds since the epoch. */
  readonly createdAt: number;
  /** The server's clock at the end of the run: milliseconds since the epoch. */
  readonly endedAt: number;
  /** The milliseconds that the runner waited for an answer. */
  readonly waitedMs: number;
}

/** A scenario that the runner skipped. */
export interface SkippedScenario {
  /** The reason why there is nothing to evaluate. */
  readonly skipped: string;
}

/** The runner's observation of one scenario. */
export type ScenarioResult = ObservedRequest | SkippedScenario;

/** Reports whether the runner skipped the scenario. */
export function isSkipped(scenario: object): scenario is SkippedScenario {
  return 'skipped' in scenario;
}

/** Returns the last version, or undefined if the API server rejected the request at creation. */
export function lastOf(request: ObservedRequest): ObjectVersion | undefined {
  return request.versions.at(-1);
}

/** Returns the first version in this state or, for `issued`, with certificates. */
export function firstOf(request: ObservedRequest, state: RequestState): ObjectVersion | undefined {
  return request.versions.find((each) => each.state === state);
}

/** Conditions that end a request, by its state. */
const ENDS: Readonly<Partial<Record<RequestState, string>>> = {
  denied: 'Denied',
  failed: 'Failed',
};

/** Returns the condition that ended a request, as `Type: Reason: message`, shortened. */
export function endText({ state, conditions }: ObjectVersion): string {
  const type = ENDS[state] ?? state;
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

/** The length of foreign text in evidence. */
const MAX_EVIDENCE = 240;

/**
 * Returns the fields that a signer must not change, as JSON. Two versions with the same text differ
 * in status only.
 */
export function immutableFieldsOf(object: KubeObject & { readonly spec?: unknown }): string {
  const { labels, annotations, finalizers, ownerReferences } = membersOf(object.metadata);
  return JSON.stringify({ labels, annotations, finalizers, ownerReferences, spec: object.spec });
}
