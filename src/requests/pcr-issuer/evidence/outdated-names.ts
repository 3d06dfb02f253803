// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { FairMap } from '#base/fair-map.ts';
import { selectsLabels, type Service } from '#api/object/service.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { EventDetails } from '#kube/events/body.ts';
import type { Proof } from './evidence.ts';
import * as messages from '../messages.ts';

/** Records an Event on a pod. */
export type SayOfPod = (
  request: PodCertificateRequest,
  event: Pick<EventDetails, 'reason' | 'note'>,
) => void;

export interface OutdatedNamesInit {
  /** Milliseconds, by the API server's clock. */
  readonly now: () => number;
  readonly say: SayOfPod;
  /** Reports how many leaves of a signer name have an outdated name. */
  readonly count: (signerName: string, leaves: number) => void;
}

/** Tracks the Service names in delivered leaves, and whether they still hold. */
export interface OutdatedNames {
  /** Records a delivered leaf, which replaces the previous one of the same volume. */
  delivered(request: PodCertificateRequest, proof: Proof, notAfter: number): void;
  /** Records a leaf from the ledger, which replaces the previous one of the same volume. */
  recorded(
    request: PodCertificateRequest,
    leaf: RecordedLeaf,
    now: (name: string) => Service | undefined,
  ): void;
  /** Records that the renewal of a leaf waits because no Service selects its pod any more. */
  refused(request: PodCertificateRequest): void;
  /** Records that a Service was changed or deleted. */
  changed(namespace: string, name: string, now: Service | undefined): void;
  /**
   * Compares all leaves with the complete list of Services, to find deletions that the watch
   * missed.
   */
  listed(now: (namespace: string, name: string) => Service | undefined): void;
  /** Drops the leaves that have expired. */
  sweep(): void;
}

/** Proof of a leaf. `notAfter` in milliseconds. */
export interface RecordedLeaf {
  readonly services: readonly string[];
  /** Labels of the pod at that time. */
  readonly labels: Readonly<Record<string, string>>;
  readonly notAfter: number;
}

/**
 * Maximum number of leaves. Beyond it the namespace with the most bytes loses its oldest leaf,
 * which is not counted then, and its renewal reports no lost names. A requester chooses how many
 * leaves its pod has.
 */
export const MAX_LEAVES = 50_000;
/** The least bytes to count for a leaf. One takes some 1,000. */
const MIN_LEAF_BYTES = 1_340;
/** Maximum bytes of all leaves, 64 MiB. The same eviction applies. */
const MAX_LEAVES_BYTES = MAX_LEAVES * MIN_LEAF_BYTES;
/**
 * Maximum bytes of a pod's labels and its Services' names. Users choose labels, up to a megabyte,
 * and a leaf outlives its pod. A few hundred such pods a day would fill the memory of a component
 * that serves all users.
 */
const MAX_PROOF_BYTES = 8 * 1024;
/** Overhead of a leaf, and of each label or name besides its text. */
const [LEAF_BYTES, TEXT_BYTES] = [400, 48];

interface Leaf {
  /** The request without its keys and annotations. */
  readonly request: PodCertificateRequest;
  readonly labels: Readonly<Record<string, string>>;
  readonly services: ReadonlySet<string>;
  readonly notAfter: number;
  /** Services that no longer select the pod, so that each is reported once. */
  readonly lost: Set<string>;
}

/** Returns the bytes that a proof takes. */
function proofBytes({ labels, services }: Pick<RecordedLeaf, 'labels' | 'services'>): number {
  const texts = [...Object.entries(labels).flat(), ...services];
  return texts.reduce((sum, text) => sum + TEXT_BYTES + text.length, 0);
}

/** Reports whether a leaf with this proof is kept after its delivery. */
export function isKept(proof: Pick<RecordedLeaf, 'labels' | 'services'>): boolean {
  return proofBytes(proof) <= MAX_PROOF_BYTES;
}

export function createOutdatedNames(init: OutdatedNamesInit): OutdatedNames {
  return new IssuedNames(init);
}

class IssuedNames implements OutdatedNames {
  readonly #init: OutdatedNamesInit;
  readonly #leaves = new FairMap<Leaf>(MAX_LEAVES_BYTES);
  /** Leaves by `namespace/Service`, to find those that a change concerns. */
  readonly #services = new Map<string, Set<Leaf>>();
  /**
   * Number of leaves with a lost Service by signer name. A name that was counted once stays with
   * zero.
   */
  readonly #counts = new Map<string, number>();

  constructor(init: OutdatedNamesInit) {
    this.#init = init;
  }

  delivered(request: PodCertificateRequest, { pod, services }: Proof, notAfter: number): void {
    const key = keyOf(request);
    const before = this.#drop(key);
    const names = new Set(services.map(({ metadata }) => metadata.name));
    const gone = [...(before?.services ?? [])].filter((name) => !names.has(name));
    if (gone.length > 0) {
      const note = messages.namesLost(gone);
      this.#init.say(request, { reason: 'PodNamesLost', note });
    }
    const labels = pod.metadata.labels ?? {};
    this.#keep(key, request, { labels, services: [...names], notAfter });
    if (before !== undefined && before.lost.size > 0) this.#count();
  }

  recorded(
    request: PodCertificateRequest,
    leaf: RecordedLeaf,
    now: (name: string) => Service | undefined,
  ): void {
    const key = keyOf(request);
    this.#drop(key);
    const kept = this.#keep(key, request, leaf);
    if (kept !== undefined) for (const name of kept.services) this.#judge(kept, name, now(name));
  }

  refused(request: PodCertificateRequest): void {
    const leaf = this.#leaves.get(keyOf(request));
    if (leaf === undefined) return;
    for (const name of leaf.services) this.#lose(leaf, name, messages.GONE_OR_NOT_SELECTING);
    this.#count();
  }

  changed(namespace: string, name: string, now: Service | undefined): void {
    const found = this.#services.get(`${namespace}/${name}`);
    if (found === undefined) return;
    for (const leaf of found) this.#judge(leaf, name, now);
    this.#count();
  }

  listed(now: (namespace: string, name: string) => Service | undefined): void {
    for (const [, leaf] of this.#leaves.entries())
      for (const name of leaf.services) this.#judge(leaf, name, now(namespaceOf(leaf), name));
    this.#count();
  }

  sweep(): void {
    const time = this.#init.now();
    const ended = [...this.#leaves.entries()].filter(([, { notAfter }]) => notAfter <= time);
    for (const [key] of ended) this.#drop(key);
    this.#count();
  }

  #judge(leaf: Leaf, name: string, now: Service | undefined): void {
    if (now === undefined) this.#lose(leaf, name, messages.DELETED);
    else if (selectsLabels(now, leaf.labels)) this.#find(leaf, name);
    else this.#lose(leaf, name, messages.NOT_SELECTING);
  }

  #keep(key: string, request: PodCertificateRequest, proven: RecordedLeaf): Leaf | undefined {
    const { services, labels, notAfter } = proven;
    if (services.length === 0 || !isKept(proven)) return undefined;
    const leaf = {
      request: reduced(request),
      labels,
      notAfter,
      services: new Set(services),
      lost: new Set<string>(),
    };
    for (const place of placesOf(leaf)) {
      const inside = this.#services.get(place) ?? new Set();
      this.#services.set(place, inside.add(leaf));
    }
    const weight = Math.max(MIN_LEAF_BYTES, LEAF_BYTES + proofBytes(proven));
    const evicted = this.#leaves.set(key, leaf, { tenant: namespaceOf(leaf), weight });
    for (const each of evicted) this.#forget(each);
    return evicted.includes(leaf) ? undefined : leaf;
  }

  #drop(key: string): Leaf | undefined {
    const leaf = this.#leaves.delete(key);
    if (leaf !== undefined) this.#forget(leaf);
    return leaf;
  }

  /** Updates the indexes for a leaf that was removed. */
  #forget(leaf: Leaf): void {
    for (const place of placesOf(leaf)) {
      const inside = this.#services.get(place);
      inside?.delete(leaf);
      if (inside?.size === 0) this.#services.delete(place);
    }
    if (leaf.lost.size > 0) this.#add(leaf, -1);
  }

  #find(leaf: Leaf, name: string): void {
    if (leaf.lost.delete(name) && leaf.lost.size === 0) this.#add(leaf, -1);
  }

  #lose(leaf: Leaf, name: string, why: string): void {
    if (leaf.lost.has(name)) return;
    leaf.lost.add(name);
    if (leaf.lost.size === 1) this.#add(leaf, 1);
    const until = new Date(leaf.notAfter).toISOString();
    const note = messages.namesOutdated(name, why, until);
    this.#init.say(leaf.request, { reason: 'PodNamesOutdated', note });
  }

  #add({ request: { spec } }: Leaf, more: number): void {
    this.#counts.set(spec.signerName, (this.#counts.get(spec.signerName) ?? 0) + more);
  }

  #count(): void {
    for (const [signerName, leaves] of this.#counts) this.#init.count(signerName, leaves);
  }
}

function namespaceOf({ request }: Leaf): string {
  return request.metadata.namespace ?? '';
}

function placesOf(leaf: Leaf): readonly string[] {
  return [...leaf.services].map((name) => `${namespaceOf(leaf)}/${name}`);
}

/** Returns the fields from which an Event about the pod is made. */
function reduced({
  apiVersion,
  kind,
  metadata,
  spec,
}: PodCertificateRequest): PodCertificateRequest {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const { signerName, podName, podUID, serviceAccountName, serviceAccountUID } = spec;
  const { nodeName, nodeUID } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(namespace === undefined ? {} : { namespace }),
    },
    spec: {
      signerName,
      podName,
      podUID,
      serviceAccountName,
      serviceAccountUID,
      nodeName,
      nodeUID,
    },
  };
}

/** Returns a key that distinguishes the volumes of one signer in a pod as far as a request can. */
function keyOf({ metadata, spec }: PodCertificateRequest): string {
  const { podUID, signerName, maxExpirationSeconds, unverifiedUserAnnotations = {} } = spec;
  const annotations = Object.entries(unverifiedUserAnnotations).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const volume = [signerName, maxExpirationSeconds ?? null, annotations];
  const text = JSON.stringify([metadata.namespace, podUID, ...volume]);
  return createHash('sha256').update(text).digest('base64url');
}
