// SPDX-License-Identifier: Apache-2.0
import { BoundedMap } from '../../../bounded-map.ts';
import { selectsLabels, type Service } from '../../../api/object/service.ts';
import type { PodCertificateRequest } from '../../../api/request/pod-certificate-request.ts';
import type { EventDetails } from '../../../kube/events/body.ts';
import type { Proof } from './evidence.ts';

/** An Event on a pod, without the pod. */
export type SayOfPod = (
  request: PodCertificateRequest,
  event: Pick<EventDetails, 'reason' | 'note'>,
) => void;

export interface OutdatedNamesInit {
  /** Milliseconds, by the API server's clock. */
  readonly now: () => number;
  readonly say: SayOfPod;
  /** How many leaves of a signer name have a name that is no longer theirs. */
  readonly count: (signerName: string, leaves: number) => void;
}

/** What leaves that this process delivered say of Services, and whether it still holds. */
export interface OutdatedNames {
  /** A leaf was delivered: it takes the place of the one before of the same volume. */
  delivered(request: PodCertificateRequest, proof: Proof, notAfter: number): void;
  /** The ledger has a leaf: it takes the place of the one before of the same volume. */
  recorded(
    request: PodCertificateRequest,
    leaf: RecordedLeaf,
    now: (name: string) => Service | undefined,
  ): void;
  /** The renewal of a leaf waits because no Service names its pod any longer. */
  refused(request: PodCertificateRequest): void;
  /** A Service changed or went. */
  changed(namespace: string, name: string, now: Service | undefined): void;
  /** Drops the leaves that have expired. */
  sweep(): void;
}

/** What a leaf was decided by. `notAfter` in milliseconds. */
export interface RecordedLeaf {
  readonly services: readonly string[];
  /** The pod's, then. */
  readonly labels: Readonly<Record<string, string>>;
  readonly notAfter: number;
}

/**
 * Some 400 bytes each. Above this number the oldest is dropped: it is neither counted nor missed at its renewal.
 */
const MAX_LEAVES = 50_000;

interface Leaf {
  /** Without its PKCS#10 request. */
  readonly request: PodCertificateRequest;
  readonly labels: Readonly<Record<string, string>>;
  readonly services: ReadonlySet<string>;
  readonly notAfter: number;
  /** Services that no longer name the pod, so that each is said once. */
  readonly lost: Set<string>;
}

export function createOutdatedNames(init: OutdatedNamesInit): OutdatedNames {
  return new IssuedNames(init);
}

class IssuedNames implements OutdatedNames {
  readonly #init: OutdatedNamesInit;
  readonly #leaves = new BoundedMap<string, Leaf>(MAX_LEAVES);
  /** Keys by namespace: a change of a Service concerns its own. */
  readonly #namespaces = new Map<string, Set<string>>();
  /** Signer names that were counted once. */
  readonly #counted = new Set<string>();

  constructor(init: OutdatedNamesInit) {
    this.#init = init;
  }

  delivered(request: PodCertificateRequest, { pod, services }: Proof, notAfter: number): void {
    const key = keyOf(request);
    const before = this.#leaves.get(key);
    this.#drop(key);
    const names = new Set(services.map(({ metadata }) => metadata.name));
    const gone = [...(before?.services ?? [])].filter((name) => !names.has(name));
    if (gone.length > 0) {
      const note = `the renewed certificate no longer has the names of ${gone.join(', ')}: deleted, or no longer selecting the pod`;
      this.#init.say(request, { reason: 'PodNamesLost', note });
    }
    const labels = pod.metadata.labels ?? {};
    this.#keep(request, { labels, services: [...names], notAfter });
    if (before !== undefined && before.lost.size > 0) this.#count();
  }

  recorded(
    request: PodCertificateRequest,
    leaf: RecordedLeaf,
    now: (name: string) => Service | undefined,
  ): void {
    this.#drop(keyOf(request));
    const kept = this.#keep(request, leaf);
    for (const name of leaf.services) this.#judge(kept, name, now(name));
  }

  refused(request: PodCertificateRequest): void {
    const leaf = this.#leaves.get(keyOf(request));
    if (leaf === undefined) return;
    for (const name of leaf.services)
      this.#lose(leaf, name, 'is gone, or no longer selects the pod');
    this.#count();
  }

  changed(namespace: string, name: string, now: Service | undefined): void {
    const keys = [...(this.#namespaces.get(namespace) ?? [])];
    const found = keys.flatMap((key) => this.#leaves.get(key) ?? []);
    for (const leaf of found.filter(({ services }) => services.has(name)))
      this.#judge(leaf, name, now);
    if (found.length > 0) this.#count();
  }

  sweep(): void {
    const time = this.#init.now();
    for (const keys of [...this.#namespaces.values()])
      for (const key of [...keys]) {
        const leaf = this.#leaves.get(key);
        if (leaf === undefined) keys.delete(key);
        else if (leaf.notAfter <= time) this.#drop(key);
      }
    this.#count();
  }

  #judge(leaf: Leaf, name: string, now: Service | undefined): void {
    if (now === undefined) this.#lose(leaf, name, 'was deleted');
    else if (selectsLabels(now, leaf.labels)) leaf.lost.delete(name);
    else this.#lose(leaf, name, 'no longer selects the pod');
  }

  #keep(request: PodCertificateRequest, { services, labels, notAfter }: RecordedLeaf): Leaf {
    const { stubPKCS10Request: _stub, ...spec } = request.spec;
    const names = new Set(services);
    const leaf = {
      request: { ...request, spec },
      labels,
      services: names,
      notAfter,
      lost: new Set<string>(),
    };
    if (names.size === 0) return leaf;
    const key = keyOf(request);
    this.#leaves.set(key, leaf);
    const namespace = request.metadata.namespace ?? '';
    const inside = this.#namespaces.get(namespace) ?? new Set();
    this.#namespaces.set(namespace, inside.add(key));
    return leaf;
  }

  #drop(key: string): void {
    const namespace = this.#leaves.get(key)?.request.metadata.namespace ?? '';
    this.#leaves.delete(key);
    const inside = this.#namespaces.get(namespace);
    inside?.delete(key);
    if (inside?.size === 0) this.#namespaces.delete(namespace);
  }

  #lose(leaf: Leaf, name: string, why: string): void {
    if (leaf.lost.has(name)) return;
    leaf.lost.add(name);
    const until = new Date(leaf.notAfter).toISOString();
    const note = `the certificate has the names of Service ${name}, which ${why}; it is valid until ${until}, and its renewal will not have them`;
    this.#init.say(leaf.request, { reason: 'PodNamesOutdated', note });
  }

  #count(): void {
    const counts = new Map<string, number>([...this.#counted].map((name) => [name, 0]));
    for (const key of [...this.#namespaces.values()].flatMap((keys) => [...keys])) {
      const leaf = this.#leaves.get(key);
      if (leaf === undefined || leaf.lost.size === 0) continue;
      const { signerName } = leaf.request.spec;
      counts.set(signerName, (counts.get(signerName) ?? 0) + 1);
    }
    for (const [signerName, leaves] of counts) {
      this.#counted.add(signerName);
      this.#init.count(signerName, leaves);
    }
  }
}

/** A pod may have several volumes of one signer: the key distinguishes them as far as a request can. */
function keyOf({ spec }: PodCertificateRequest): string {
  const annotations = JSON.stringify(spec.unverifiedUserAnnotations ?? {});
  return `${spec.podUID} ${spec.signerName} ${spec.maxExpirationSeconds ?? ''} ${annotations}`;
}
