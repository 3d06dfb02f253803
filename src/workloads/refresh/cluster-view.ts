// SPDX-License-Identifier: Apache-2.0
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { KubeObject, Secret } from '#api/object/object.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { CertManagerCertificate } from '#api/workload/certificate.ts';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import type { Workload } from '#api/workload/workload.ts';
import type { IssuedRequest } from './credentials/leaf.ts';
import { isNamespaceOptedIn, optInOf } from './opt-in.ts';
import {
  PodCertificates,
  type EndangeredPod,
  type RecordedDenial,
} from './credentials/pod-certificates.ts';
import { SecretLeaves } from './credentials/secret-leaves.ts';
import type { CredentialSource } from './credential-source.ts';
import { restartStateOf, workloadKey, type DueTimes, type RestartState } from './restart-state.ts';
import { SignerTrusts, type TrustedSigner } from './credentials/signer-trust.ts';
import { TrustBundles } from './credentials/trust-bundles.ts';

/** The cached form of each watched kind. */
export interface SeenObjects {
  readonly namespaces: KubeObject;
  readonly workloads: Workload;
  readonly certificates: CertManagerCertificate;
  readonly certificateRequests: IssuedRequest;
  readonly podCertificateRequests: PodCertificateRequest;
  readonly bundles: ClusterTrustBundle;
  readonly secrets: Secret;
  readonly budgets: DisruptionBudget;
  /** The CAs of ClusterSigners. */
  readonly signers: TrustedSigner;
}

/** A workload with invalid annotations. */
export interface InvalidOptIn {
  readonly workload: Workload;
  readonly message: string;
}

/** Restart states of all workloads that opted in, in namespaces that opted in. */
export interface RestartStates {
  readonly states: readonly RestartState[];
  readonly invalid: readonly InvalidOptIn[];
  /** Workloads that opted in although their namespace did not. They are never restarted. */
  readonly unlabelled: readonly Workload[];
}

/** A change of an object: created without `before`, deleted without `now`. */
type ChangeHandler<T> = (key: string, now: T | undefined, before: T | undefined) => void;

/** State of the cluster for all decisions, from watches or lists. */
export class ClusterView {
  readonly #namespaces = new Set<string>();
  readonly #workloads = new Map<string, Workload>();
  readonly #budgets = new Map<string, Map<string, DisruptionBudget>>();
  readonly #leaves = new SecretLeaves();
  readonly #podCertificates = new PodCertificates();
  readonly #bundles = new TrustBundles();
  readonly #trusts = new SignerTrusts();
  readonly #now: () => number;

  /** @param now - milliseconds since the epoch, by the API server's clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Receives changes by kind. */
  readonly seen: { readonly [K in keyof SeenObjects]: ChangeHandler<SeenObjects[K]> } = {
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
      if (now !== undefined) this.#podCertificates.onRequest(now, this.#now());
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
    signers: (key, now) => {
      this.#trusts.onSigner(key, now);
    },
  };

  /** Receives a ledger record of a pod from before this process began. */
  recorded(denial: RecordedDenial): void {
    this.#podCertificates.onRecorded(denial, this.#now());
  }

  isOptedIn(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  budgetsOf(namespace: string): readonly DisruptionBudget[] {
    return [...(this.#budgets.get(namespace)?.values() ?? [])];
  }

  /** Returns pods whose last credential expires, in namespaces that opted in. */
  endangered(): readonly EndangeredPod[] {
    return this.#podCertificates
      .endangered(this.#now())
      .filter(({ namespace }) => this.isOptedIn(namespace));
  }

  #source(now: number): CredentialSource {
    const [leaves, certificates] = [this.#leaves, this.#podCertificates];
    const [bundles, trusts] = [this.#bundles, this.#trusts];
    return {
      secret: leaves.of.bind(leaves),
      podCertificate: (pod, signerName) => certificates.newest({ ...pod, signerName }, now),
      bundle: bundles.of.bind(bundles),
      bundleSigner: bundles.signerOf.bind(bundles),
      bundleWrite: bundles.lastWrite.bind(bundles),
      trust: (signerName) => trusts.of(signerName, now),
      isAnyDistrusted: trusts.isAnyDistrusted(now),
      version: (namespace) =>
        [certificates.version(namespace), bundles.version, trusts.version].join(' '),
    };
  }

  states(times: DueTimes): RestartStates {
    const now = this.#now();
    const source = this.#source(now);
    const states: RestartState[] = [];
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
        states.push(restartStateOf(workload, optIn, source, { ...times, now }));
      }
    }
    return { states, invalid, unlabelled };
  }
}
