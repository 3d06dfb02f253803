// SPDX-License-Identifier: Apache-2.0
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { AcmeSignerRef } from '#api/acme/fields.ts';
import { ACME_CLUSTER_SIGNERS, ACME_DERIVED_PREFIX, ACME_SIGNERS } from '#api/acme/names.ts';
import { readAcmeSigner } from '#api/acme/read-acme-signer.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { invalidSpec } from '#api/signer/invalid-spec.ts';
import { resolveNameConflicts } from '#api/signer/name-conflict.ts';
import { PREPARE_AT, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import { SignerError } from '#base/errors.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import { createReflector, type Reflector } from '#kube/watch/reflector.ts';
import type { Component } from '../contract.ts';
import { watchClaimedNames, type ClaimedNames } from './claimed-names.ts';
import { createSignerQuota } from './signer-quota.ts';
import type { FaultySigner, SignerSet, SignersListener } from './signer-set.ts';

const OF_CLUSTER = resource(ACME_CLUSTER_SIGNERS);
const OF_NAMESPACES = resource(ACME_SIGNERS);

/** Returns the API resource of an AcmeClusterSigner or AcmeSigner. */
export function resourceOfSigner({ kind }: Pick<KubeObject, 'kind'>): Resource {
  return kind === 'AcmeSigner' ? OF_NAMESPACES : OF_CLUSTER;
}

/** All ACME signers, by key: `namespace/name` of an AcmeSigner, or the bare name. */
export interface AcmeSigners extends SignerSet<AcmeSigner> {
  readonly onChange: (listener: SignersListener) => void;
  readonly warnings: () => readonly string[];
  /** Returns a signer with a valid spec. */
  readonly get: (key: string) => AcmeSigner | undefined;
  readonly faulty: (key: string) => FaultySigner | undefined;
  /**
   * Returns the signer that serves its signer name in its place: `ClusterSigner x`, or an older
   * `AcmeClusterSigner x`.
   */
  readonly rivalOf: (key: string) => string | undefined;
  /** Takes the status that an own write left. */
  readonly applyWrite: (signer: KubeObject) => void;
}

/** Returns the key of the signer that an Order or Challenge in this namespace names. */
export function keyOfRef({ kind, name }: AcmeSignerRef, namespace: string): string {
  return kind === 'AcmeSigner' ? `${namespace}/${name}` : name;
}

/**
 * Watches AcmeClusterSigners, and AcmeSigners if they are served. A ClusterSigner with the same
 * signer name has precedence, whichever is older, because `signer` does not know this kind.
 */
export function watchAcmeSigners(component: Component): AcmeSigners {
  return new WatchedSigners(component);
}

class WatchedSigners implements AcmeSigners {
  readonly #component: Component;
  readonly #known = new Map<string, AcmeSigner>();
  readonly #faulty = new Map<string, FaultySigner>();
  readonly #listeners: SignersListener[] = [];
  readonly #watches: readonly Pick<Reflector<KubeObject>, 'run' | 'whenSynced' | 'failure'>[];
  readonly #own: readonly Reflector<KubeObject>[];
  readonly #claimed: ClaimedNames;
  /** The quota of AcmeSigners: the users of one namespace must not exhaust the common capacity. */
  readonly #quota = createSignerQuota({
    kinds: 'AcmeSigners',
    // Their owners request another account key by these.
    annotations: [PREPARE_AT, ROTATE_AT],
  });
  #serving = new Map<string, string>();
  #rivals = new Map<string, string>();
  #settled = false;

  constructor(component: Component) {
    this.#component = component;
    const kinds = [OF_CLUSTER, ...(component.namespacedSigners ? [OF_NAMESPACES] : [])];
    this.#own = kinds.map((kind) =>
      createReflector<KubeObject>({
        ...component,
        path: kind.collection(),
        ...(kind === OF_NAMESPACES ? { transform: this.#quota.reduce } : {}),
        onEvent: (key, now) => {
          this.#observe(key, now);
        },
      }),
    );
    this.#claimed = watchClaimedNames(component, (names) => {
      if (this.#settled) this.#announce([], ...names);
    });
    this.#watches = [...this.#own, this.#claimed.watch];
    const forever = new AbortController().signal;
    void Promise.all(this.#watches.map((each) => each.whenSynced(forever))).then(() => {
      this.#settled = true;
      this.#announce([...this.#known.keys(), ...this.#faulty.keys()]);
    });
  }

  get settled(): boolean {
    return this.#settled;
  }

  get failure(): string | undefined {
    return this.#watches.map(({ failure }) => failure).find((each) => each !== undefined);
  }

  readonly serving = (signerName: string): AcmeSigner | undefined =>
    this.#known.get(this.#serving.get(signerName) ?? '');

  readonly all = (): readonly AcmeSigner[] =>
    [...this.#serving.values()].flatMap((key) => this.#known.get(key) ?? []);

  readonly onChange = (listener: SignersListener): void => {
    this.#listeners.push(listener);
  };

  readonly warnings = (): readonly string[] => [];
  readonly get = (key: string): AcmeSigner | undefined => this.#known.get(key);
  readonly faulty = (key: string): FaultySigner | undefined => this.#faulty.get(key);
  readonly rivalOf = (key: string): string | undefined => this.#rivals.get(key);

  readonly applyWrite = (signer: KubeObject & { readonly status?: unknown }): void => {
    const [cluster, namespaced] = this.#own;
    const watch = signer.kind === 'AcmeSigner' ? namespaced : cluster;
    const raw = watch?.get(keyOf(signer.metadata)) ?? signer;
    const { metadata, status } = signer;
    // The sent spec contains parsed values, which the reader rejects in a user's spec.
    const written = { ...raw, metadata, status } as KubeObject;
    watch?.applyWrite(signer.kind === 'AcmeSigner' ? this.#quota.reduce(written) : written);
  };

  readonly run = async (signal: AbortSignal): Promise<void> => {
    await Promise.all(this.#watches.map((each) => each.run(signal)));
  };

  #observe(key: string, object: KubeObject | undefined): void {
    const before = this.#known.get(key)?.spec.signerName;
    this.#known.delete(key);
    this.#faulty.delete(key);
    if (object !== undefined) this.#read(key, object);
    else if (key.includes('/')) this.#quota.release(key);
    if (this.#settled) this.#announce([key], before);
  }

  #read(key: string, object: KubeObject): void {
    try {
      const fault = object.kind === 'AcmeSigner' ? this.#quota.admit(key, object) : undefined;
      if (fault !== undefined) throw invalidSpec(object, [fault]);
      this.#known.set(key, readAcmeSigner(object));
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      this.#faulty.set(key, { object, error });
      const { code, message } = error;
      this.#component.log.warn({ acmeSigner: key, code, error: message }, 'invalid, not served');
    }
  }

  /**
   * Decides which signers serve. Announces these signers with all that claim their names or the
   * others.
   */
  #announce(changed: readonly string[], ...names: readonly (string | undefined)[]): void {
    this.#resolve();
    const concerned = new Set([
      ...names.filter((each) => each !== undefined),
      ...changed.flatMap((key) => this.#known.get(key)?.spec.signerName ?? []),
    ]);
    const rivals = [...this.#known]
      .filter(([, { spec }]) => concerned.has(spec.signerName))
      .map(([key]) => key);
    const keys = [...new Set([...changed, ...rivals])];
    for (const listener of this.#listeners) listener([...concerned], keys);
  }

  #resolve(): void {
    const all = [...this.#known.values()];
    const cluster = all.filter(({ kind }) => kind !== 'AcmeSigner');
    const { serving, conflicting } = resolveNameConflicts<AcmeSigner>(cluster);
    this.#rivals = new Map(
      [...conflicting].map(([name, elder]) => [name, `AcmeClusterSigner ${elder}`]),
    );
    this.#serving = new Map();
    for (const [signerName, signer] of serving) {
      const other = this.#claimed.claimantOf(signerName);
      if (other === undefined) this.#serving.set(signerName, keyOf(signer.metadata));
      else this.#rivals.set(keyOf(signer.metadata), `ClusterSigner ${other}`);
    }
    for (const signer of all) {
      const { signerName } = signer.spec;
      if (signerName.startsWith(ACME_DERIVED_PREFIX))
        this.#serving.set(signerName, keyOf(signer.metadata));
    }
  }
}
