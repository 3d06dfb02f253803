// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '../api/object/cluster-trust-bundle.ts';
import type { KubeObject, Secret } from '../api/object/object.ts';
import type { PodCertificateRequest } from '../api/request/pod-certificate-request.ts';
import type { CertManagerCertificate } from '../api/workload/certificate.ts';
import type { DisruptionBudget } from '../api/workload/disruption-budget.ts';
import type { Workload } from '../api/workload/workload.ts';
import type { IssuedRequest } from './leaf.ts';
import { isNamespaceOptedIn, optInOf } from './opt-in.ts';
import { PodCertificates, type EndangeredPod, type RecordedDenial } from './pod-certificates.ts';
import { SecretLeaves } from './secret-leaves.ts';
import { standingOf, workloadKey, type DueTimes, type Standing } from './standing.ts';
import { TrustBundles } from './trust-bundles.ts';

/** What is kept of each kind, and told of each change. */
export interface SeenObjects {
  readonly namespaces: KubeObject;
  readonly workloads: Workload;
  readonly certificates: CertManagerCertificate;
  readonly certificateRequests: IssuedRequest;
  readonly podCertificateRequests: PodCertificateRequest;
  readonly bundles: ClusterTrustBundle;
  readonly secrets: Secret;
  readonly budgets: DisruptionBudget;
}

/** A workload whose annotations cannot be read. */
export interface InvalidOptIn {
  readonly workload: Workload;
  readonly message: string;
}

/** How all workloads stand that opted in, in namespaces that opted in. */
export interface ClusterStandings {
  readonly standings: readonly Standing[];
  readonly invalid: readonly InvalidOptIn[];
  /** Those that opted in where their namespace did not: nobody looks at them. */
  readonly unlabelled: readonly Workload[];
}

/** A change of an object: created without `before`, deleted without `now`. */
type Seen<T> = (key: string, now: T | undefined, before: T | undefined) => void;

/** Everything that decisions go by, as it is told by watches or by lists. */
export class ClusterView {
  readonly #namespaces = new Set<string>();
  readonly #workloads = new Map<string, Workload>();
  readonly #budgets = new Map<string, Map<string, DisruptionBudget>>();
  readonly #leaves = new SecretLeaves();
  readonly #podCertificates = new PodCertificates();
  readonly #bundles = new TrustBundles();
  readonly #now: () => number;

  /** @param now - milliseconds since the epoch, by the API server's clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Tells of a change, by kind. */
  readonly seen: { readonly [K in keyof SeenObjects]: Seen<SeenObjects[K]> } = {
    namespaces: (key, now) => {
      if (isNamespaceOptedIn(now?.metadata.labels)) this.#namespaces.add(key);
      else this.#namespaces.delete(key);
    },
    workloads: (_key, now, before) => {
      if (before !== undefined) this.#workloads.delete(workloadKey(before));
      if (now !== undefined) this.#workloads.set(workloadKey(now), now);
    },
    certificates: (key, now, before) => {
      this.#leaves.onCertificate(key, now, before);
    },
    certificateRequests: (_key, now, before) => {
      this.#leaves.onRequest(now, before);
    },
    podCertificateRequests: (_key, now) => {
      if (now !== undefined) this.#podCertificates.onRequest(now);
    },
    bundles: (key, now) => {
      this.#bundles.onBundle(key, now, this.#now());
    },
    secrets: (key, now) => {
      this.#leaves.onSecret(key, now);
    },
    budgets: (key, now) => {
      const namespace = key.slice(0, key.indexOf('/'));
      const budgets = this.#budgets.get(namespace) ?? new Map<string, DisruptionBudget>();
      if (now === undefined) budgets.delete(key);
      else budgets.set(key, now);
      this.#budgets.set(namespace, budgets);
    },
  };

  /** Takes what the ledger says of a pod from before this process began. */
  recorded(denial: RecordedDenial): void {
    this.#podCertificates.onRecorded(denial);
  }

  isOptedIn(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  budgetsOf(namespace: string): readonly DisruptionBudget[] {
    return [...(this.#budgets.get(namespace)?.values() ?? [])];
  }

  /** Pods of namespaces that opted in, whose last credential ends. */
  endangered(): readonly EndangeredPod[] {
    return this.#podCertificates
      .endangered(this.#now())
      .filter(({ namespace }) => this.isOptedIn(namespace));
  }

  standings(times: DueTimes): ClusterStandings {
    const now = this.#now();
    const source = {
      secret: this.#leaves.of.bind(this.#leaves),
      podCertificate: this.#podCertificates.at(now),
      bundle: this.#bundles.of.bind(this.#bundles),
    };
    const standings: Standing[] = [];
    const invalid: InvalidOptIn[] = [];
    const unlabelled: Workload[] = [];
    for (const workload of this.#workloads.values()) {
      const optIn = optInOf(workload);
      if (!this.isOptedIn(workload.metadata.namespace ?? '')) {
        if (optIn.kind !== 'out') unlabelled.push(workload);
        continue;
      }
      if (optIn.kind === 'invalid') invalid.push({ workload, message: optIn.message });
      if (optIn.kind === 'in') {
        standings.push(standingOf(workload, optIn, source, { ...times, now }));
      }
    }
    return { standings, invalid, unlabelled };
  }
}
