// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '#api/request/conditions.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import { parseTime } from '#api/object/time.ts';
import { BoundedMap } from '#base/bounded-map.ts';
import { FairMap } from '#base/fair-map.ts';
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

type PodOfSigner = Pick<PodCredential, 'namespace' | 'uid' | 'signerName'>;

interface Denial {
  /** Creation time of the request. */
  readonly at: number;
  readonly message: string;
}

/** Maximum UTF-16 units of a reason. An Event has room for a thousand. */
const MAX_DENIAL_TEXT = 512;

/** Maximum number of namespaces with a version. */
const MAX_NAMESPACES = 50_000;
/**
 * Maximum number of credentials, some 640 bytes each: those of the 150,000 pods of the largest
 * cluster, and of pods that have ended.
 */
const MAX_CREDENTIALS = 200_000;
/** Share of them that bounds the pods whose renewal was denied, of at most 1,500 bytes each. */
const DENIED_SHARE = 1 / 4;
/**
 * Maximum lifetime of a PodCertificateRequest's credential: 91 days (validation.go). An older
 * denial belongs to no valid credential.
 */
const LONGEST_MS = 7_862_400_000;

/**
 * The credentials of pods, from the PodCertificateRequests since this process began. Each kubelet
 * requests for its own pods, by their UIDs. The API server deletes those requests after 15 minutes.
 * So a credential that only an earlier process saw stays unknown until its renewal. Beyond the
 * limits the namespace with the most pods loses its oldest, so a tenant displaces only its own.
 */
export class PodCertificates {
  /** Credentials by {@link podKey}. */
  readonly #pods: FairMap<PodCredential>;
  /** Number of the last seen credential, by namespace. */
  readonly #versions = new BoundedMap<string, number>(MAX_NAMESPACES);
  #seen = 0;
  readonly #denials: FairMap<Denial>;
  /** Credentials from before this process began, of pods whose renewal was denied. */
  readonly #recorded: FairMap<Omit<RecordedDenial, 'deniedAt' | 'message'>>;

  constructor(most = MAX_CREDENTIALS) {
    this.#pods = new FairMap(most, ({ notAfter }) => notAfter);
    this.#denials = new FairMap(most * DENIED_SHARE, ({ at }) => at + LONGEST_MS);
    this.#recorded = new FairMap(most * DENIED_SHARE, ({ notAfter }) => notAfter);
  }

  /** @param now - milliseconds since the epoch, by the API server's clock */
  onRequest(request: PodCertificateRequest, now: number): void {
    const { spec, metadata, status = {} } = request;
    const { namespace = '' } = metadata;
    const pod = { namespace, uid: spec.podUID, signerName: spec.signerName };
    const requestedAt = parseTime(metadata.creationTimestamp);
    const denied = findCondition(status.conditions, 'Denied');
    if (denied === undefined) this.#issue(pod, request, { requestedAt, now });
    else this.#deny(pod, { at: requestedAt, message: denied.message ?? '' }, now);
  }

  /** Receives a record of the ledger. Newer observations in the cluster win. */
  onRecorded(denial: RecordedDenial, now: number): void {
    const { deniedAt, message, ...pod } = denial;
    const { namespace, name, uid, signerName, notAfter } = pod;
    const recorded = { namespace, name, uid, signerName, notAfter };
    this.#recorded.set(podKey(pod), recorded, { tenant: namespace, now });
    this.#deny(pod, { at: deniedAt, message }, now);
  }

  #deny(pod: PodOfSigner, denial: Denial, now: number): void {
    const key = podKey(pod);
    const message = denial.message.slice(0, MAX_DENIAL_TEXT);
    if ((this.#denials.get(key)?.at ?? 0) <= denial.at)
      this.#denials.set(key, { ...denial, message }, { tenant: pod.namespace, now });
  }

  #issue(
    pod: PodOfSigner,
    { spec, status }: PodCertificateRequest,
    { requestedAt, now }: { readonly requestedAt: number; readonly now: number },
  ): void {
    const summary = summaryOf(status?.certificateChain ?? '');
    const notBefore = timeOf(status?.notBefore);
    const notAfter = timeOf(status?.notAfter);
    const { namespace } = pod;
    const key = podKey(pod);
    const known = this.#pods.get(key);
    if (summary === undefined || Number.isNaN(notBefore + notAfter)) return;
    if (known !== undefined && known.requestedAt >= requestedAt) return;
    const credential = {
      ...pod,
      name: spec.podName,
      hash: summary.hash,
      issuer: summary.issuer,
      requestedAt,
      notBefore,
      notAfter,
      isRenewal: known !== undefined,
    };
    this.#pods.set(key, credential, { tenant: namespace, now });
    this.#seen += 1;
    this.#versions.set(namespace, this.#seen);
  }

  /**
   * Returns the newest valid credential that the kubelet of a pod got from a signer, or undefined
   * if none was seen.
   */
  newest(pod: PodOfSigner, now: number): PodCredential | undefined {
    const found = this.#pods.get(podKey(pod));
    return found === undefined || found.notAfter <= now ? undefined : found;
  }

  /** Returns a number that changes with each credential seen in a namespace. */
  version(namespace: string): number {
    return this.#versions.get(namespace) ?? 0;
  }

  /** Returns the pods whose newest credential is their last, since the next request was denied. */
  endangered(now: number): readonly EndangeredPod[] {
    return [...this.#denials.entries()].flatMap(([key, { at, message }]) => {
      const seen = this.#pods.get(key);
      const pod = seen ?? this.#recorded.get(key);
      if (pod === undefined || pod.notAfter <= now) return [];
      if (seen !== undefined && at <= seen.requestedAt) return [];
      const { namespace, name, uid, signerName, notAfter } = pod;
      return [{ namespace, name, uid, signerName, notAfter, message }];
    });
  }
}

/**
 * Returns the key of a pod and a signer. It contains the namespace because the API server
 * authorizes a request's creator for its namespace. It verifies the pod's UID only for requests of
 * nodes (validation.go, NodeRestriction). Our admission policy restricts our signer names to nodes.
 * Requests for other signer names, which are watched too, may contain any UID that a tenant writes.
 */
export function podKey({ namespace, uid, signerName }: PodOfSigner): string {
  return `${namespace} ${uid} ${signerName}`;
}

/** Returns NaN for no time. */
function timeOf(text = ''): number {
  return parseTime(text);
}
