// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { parseTime } from '#api/object/time.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { summaryOf } from './leaf.ts';

/** A pod whose newest credential of a signer expires, and whose renewal was denied. */
export interface EndangeredPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly signerName: string;
  /** Expiry of its newest credential. */
  readonly notAfter: number;
  /** Reason for the denial of its renewal. */
  readonly message: string;
}

/** The newest seen credential of one pod by one signer. */
export interface PodCredential {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly signerName: string;
  readonly hash: string;
  /** Key identifier in hex of the CA that signed it, absent if the leaf has none. */
  readonly issuer?: string | undefined;
  /** Creation time of the newest issued request. */
  readonly requestedAt: number;
  readonly notBefore: number;
  readonly notAfter: number;
  /** True if an older credential of the same pod was seen. */
  readonly isRenewal: boolean;
}

/** A ledger record of a pod whose renewal was denied. Times are milliseconds. */
export interface RecordedDenial {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly signerName: string;
  /** Expiry of its newest credential. */
  readonly notAfter: number;
  readonly deniedAt: number;
  /** Reason for the denial. */
  readonly message: string;
}

interface Denial {
  /** Creation time of the request. */
  readonly at: number;
  readonly message: string;
}

/** Maximum UTF-16 units of a reason. An Event has room for a thousand. */
const MAX_DENIAL_TEXT = 512;

/** Maximum number of pods with credentials. The oldest is dropped first. */
const MAX_PAGED_PODS = 50_000;
/**
 * The credentials of pods, from the PodCertificateRequests since this process began. Each kubelet
 * requests for its own pods, by their UIDs. The API server deletes those requests after 15 minutes.
 * So a credential that only an earlier process saw stays unknown until its renewal.
 */
export class PodCertificates {
  /** Credentials by {@link podKey}. */
  readonly #pods = new BoundedMap<string, PodCredential>(MAX_PAGED_PODS);
  /** Number of the last seen credential, by namespace. */
  readonly #versions = new BoundedMap<string, number>(MAX_PAGED_PODS);
  #seen = 0;
  readonly #denials = new BoundedMap<string, Denial>(MAX_PAGED_PODS);
  /** Credentials from before this process began, of pods whose renewal was denied. */
  readonly #recorded = new BoundedMap<string, Omit<RecordedDenial, 'deniedAt' | 'message'>>(
    MAX_PAGED_PODS,
  );

  onRequest(request: PodCertificateRequest): void {
    const { spec, metadata, status = {} } = request;
    const { namespace = '' } = metadata;
    const key = podKey({ namespace, uid: spec.podUID, signerName: spec.signerName });
    const requestedAt = parseTime(metadata.creationTimestamp);
    const denied = findCondition(status.conditions, 'Denied');
    if (denied !== undefined) this.#deny(key, { at: requestedAt, message: denied.message ?? '' });
    else this.#issue(key, request, requestedAt);
  }

  /** Receives a record of the ledger. Newer observations in the cluster win. */
  onRecorded(denial: RecordedDenial): void {
    const key = podKey(denial);
    const { namespace, name, uid, signerName, notAfter, deniedAt, message } = denial;
    this.#recorded.set(key, { namespace, name, uid, signerName, notAfter });
    this.#deny(key, { at: deniedAt, message });
  }

  #deny(key: string, denial: Denial): void {
    const message = denial.message.slice(0, MAX_DENIAL_TEXT);
    if ((this.#denials.get(key)?.at ?? 0) <= denial.at)
      this.#denials.set(key, { ...denial, message });
  }

  #issue(
    key: string,
    { spec, metadata, status }: PodCertificateRequest,
    requestedAt: number,
  ): void {
    const summary = summaryOf(status?.certificateChain ?? '');
    const notBefore = timeOf(status?.notBefore);
    const notAfter = timeOf(status?.notAfter);
    const known = this.#pods.get(key);
    if (summary === undefined || Number.isNaN(notBefore + notAfter)) return;
    if (known !== undefined && known.requestedAt >= requestedAt) return;
    const credential = {
      namespace: metadata.namespace ?? '',
      name: spec.podName,
      uid: spec.podUID,
      signerName: spec.signerName,
      hash: summary.hash,
      issuer: summary.issuer,
      requestedAt,
      notBefore,
      notAfter,
      isRenewal: known !== undefined,
    };
    this.#pods.set(key, credential);
    this.#seen += 1;
    this.#versions.set(credential.namespace, this.#seen);
  }

  /**
   * Returns the newest valid credential that the kubelet of a pod got from a signer, or undefined
   * if none was seen.
   */
  newest(
    pod: Pick<PodCredential, 'namespace' | 'uid' | 'signerName'>,
    now: number,
  ): PodCredential | undefined {
    const found = this.#pods.get(podKey(pod));
    return found === undefined || found.notAfter <= now ? undefined : found;
  }

  /** Returns a number that changes with each credential seen in a namespace. */
  version(namespace: string): number {
    return this.#versions.get(namespace) ?? 0;
  }

  /** Returns the pods whose newest credential is their last, since the next request was denied. */
  endangered(now: number): readonly EndangeredPod[] {
    return [...this.#denials.entries()].flatMap(([key, denial]) => {
      const seen = this.#pods.get(key);
      const pod = seen ?? this.#recorded.get(key);
      if (pod === undefined || pod.notAfter <= now) return [];
      if (seen !== undefined && denial.at <= seen.requestedAt) return [];
      const { namespace, name, uid, signerName, notAfter } = pod;
      return [{ namespace, name, uid, signerName, notAfter, message: denial.message }];
    });
  }
}

/**
 * Returns the key of a pod and a signer. It contains the namespace because the API server
 * authorizes a request's creator for its namespace. It verifies the pod's UID only for requests of
 * nodes (validation.go, NodeRestriction). Our admission policy restricts our signer names to nodes.
 * Requests for other signer names, which are watched too, may contain any UID that a tenant writes.
 */
export function podKey({
  namespace,
  uid,
  signerName,
}: Pick<PodCredential, 'namespace' | 'uid' | 'signerName'>): string {
  return `${namespace} ${uid} ${signerName}`;
}

/** Returns NaN for no time. */
function timeOf(text = ''): number {
  return parseTime(text);
}
