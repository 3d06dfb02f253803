// SPDX-License-Identifier: Apache-2.0
import { findCondition } from '../api/request/conditions.ts';
import type { PodCertificateRequest } from '../api/request/pod-certificate-request.ts';
import { parseTime } from '../api/object/time.ts';
import { BoundedMap } from '../bounded-map.ts';
import { TextIndex } from '../text-index.ts';
import { summaryOf, type CurrentLeaf } from './leaf.ts';

/** A pod whose newest credential of a signer ends, and whose renewal was denied. */
export interface EndangeredPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly signerName: string;
  /** When its newest credential ends. */
  readonly notAfter: number;
  /** Why its renewal was denied. */
  readonly message: string;
}

/** What was seen of the credentials of one pod by one signer. */
interface PodCredential {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly signerName: string;
  readonly hash: string;
  /** Of the newest request that was issued. */
  readonly requestedAt: number;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Whether an older one of the same pod was seen. */
  readonly isRenewal: boolean;
}

/** What the ledger says of a pod whose renewal was denied; times are milliseconds. */
export interface RecordedDenial {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly signerName: string;
  /** Of its newest credential. */
  readonly notAfter: number;
  readonly deniedAt: number;
  /** Why. */
  readonly message: string;
}

interface Denial {
  /** When the request was created. */
  readonly at: number;
  readonly message: string;
}

/** UTF-16 units of a reason that are kept: an Event has room for a thousand. */
const MAX_DENIAL_TEXT = 512;

/** Pods with credentials at once; the oldest is forgotten first. */
const MOST_PODS = 50_000;
/**
 * A kubelet renews no sooner than ten minutes after notBefore (validation.go, ValidatePodCertificateRequestStatusUpdate), and
 * asks for the first credential when it mounts the volume.
 */
const FIRST_REQUEST_MS = 5 * 60_000;

/**
 * The credentials of pods, by what the PodCertificateRequests said since this process began. The API server deletes those
 * after a quarter of an hour: what happened before is in the ledger alone. Restarts do not go by that.
 */
export class PodCertificates {
  /** By {@link podKey}. */
  readonly #pods = new BoundedMap<string, PodCredential>(MOST_PODS);
  /** The same by namespace and signer name: a pass asks for each workload. */
  readonly #places = new TextIndex<PodCredential>(placeOf);
  readonly #denials = new BoundedMap<string, Denial>(MOST_PODS);
  /** The credentials that were there before this process began, of pods whose renewal was denied. */
  readonly #recorded = new BoundedMap<string, Omit<RecordedDenial, 'deniedAt' | 'message'>>(
    MOST_PODS,
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

  /** Takes what the ledger says. What was seen in the cluster counts more, if it is newer. */
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
    const [notBefore, notAfter] = [status?.notBefore, status?.notAfter].map((time = '') =>
      parseTime(time),
    ) as [number, number];
    const known = this.#pods.get(key);
    if (summary === undefined || Number.isNaN(notBefore + notAfter)) return;
    if (known !== undefined && known.requestedAt >= requestedAt) return;
    const credential = {
      namespace: metadata.namespace ?? '',
      ...{ name: spec.podName, uid: spec.podUID, signerName: spec.signerName },
      ...{ hash: summary.hash, requestedAt, notBefore, notAfter },
      isRenewal: known !== undefined,
    };
    this.#keep(key, credential, known);
  }

  #keep(key: string, credential: PodCredential, known: PodCredential | undefined): void {
    const forgotten = this.#pods.set(key, credential);
    if (forgotten !== undefined) this.#places.change(podKey(forgotten), undefined, forgotten);
    this.#places.change(key, credential, known);
  }

  /**
   * How all stand at a time. What it gives: what a signer issued last to a pod of a namespace, and which of its pods have
   * an older one if they run for long enough. Each is computed once, however many workloads ask.
   */
  at(now: number): (namespace: string, signerName: string) => CurrentLeaf | undefined {
    const leaves = new Map<string, CurrentLeaf | undefined>();
    return (namespace, signerName) => {
      const place = placeOf({ namespace, signerName });
      if (!leaves.has(place)) leaves.set(place, this.#leafOf(place, now));
      return leaves.get(place);
    };
  }

  #leafOf(place: string, now: number): CurrentLeaf | undefined {
    const found = this.#places.get(place).filter(({ notAfter }) => notAfter > now);
    const newest = found.reduce<PodCredential | undefined>(
      (last, each) => (last === undefined || each.requestedAt > last.requestedAt ? each : last),
      undefined,
    );
    if (newest === undefined) return undefined;
    const renewals = found.filter(({ isRenewal }) => isRenewal);
    const since = Math.min(...renewals.map(({ requestedAt }) => requestedAt));
    const issuedAt = renewals.length === 0 ? newest.requestedAt : since;
    return {
      hash: newest.hash,
      issuedAt,
      writtenBy: issuedAt,
      isFirst: false,
      // The one before had as much left as this one will have at half of its life, where a kubelet renews by default.
      remaining: (newest.notAfter - newest.notBefore) / 2,
      pods: new Map(found.map(({ uid, requestedAt }) => [uid, requestedAt - FIRST_REQUEST_MS])),
    };
  }

  /** The pods whose newest credential is the last one: the request after it was denied. */
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
 * A pod and a signer. The namespace is in it, since the API server checks the namespace of a request against the rights of
 * who creates it, and the UID of a pod against nothing, unless a node asks (validation.go, NodeRestriction). Our admission
 * policy lets nobody else ask for our signer names; of others, whose requests are seen too, a tenant may write any UID.
 */
export function podKey({
  namespace,
  uid,
  signerName,
}: Pick<PodCredential, 'namespace' | 'uid' | 'signerName'>): string {
  return `${namespace} ${uid} ${signerName}`;
}

function placeOf({
  namespace,
  signerName,
}: Pick<PodCredential, 'namespace' | 'signerName'>): string {
  return `${namespace} ${signerName}`;
}
