// SPDX-License-Identifier: Apache-2.0
import { GROUP, VERSION, type ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { resolveNameConflicts, type NameClaimant } from '../../api/signer/name-conflict.ts';
import type { KubeObject } from '../../api/object/object.ts';
import { SignerError } from '../../errors.ts';
import { createReflector, type Reflector } from '../../kube/watch/reflector.ts';
import { resource } from '../../kube/resource/resource.ts';
import type { Component } from '../component/component.ts';
import { readClusterSigner } from '../../api/signer/read-signer.ts';

export const CLUSTER_SIGNERS = resource({
  group: GROUP,
  version: VERSION,
  plural: 'clustersigners',
});

/** The signers of this installation, and which of them serve. By key: `namespace/name`, or the bare name. */
export interface Signers {
  /** True once all are known, and who serves is settled. */
  readonly settled: boolean;
  /** Why they could not be read last, while they cannot. */
  readonly failure: string | undefined;
  /** The one that serves a signer name, if one does. */
  serving(signerName: string): ClusterSigner | undefined;
  /** All serving ones. */
  all(): readonly ClusterSigner[];
  /** All of this installation, also those that do not serve. */
  known(): readonly ClusterSigner[];
  /** As the API server has it; also of those that do not serve. */
  get(key: string): ClusterSigner | undefined;
  /** What keeps it from being read at all. */
  faulty(key: string): FaultySigner | undefined;
  /** The elder of the same signer name, where that keeps it from serving. */
  elderOf(key: string): string | undefined;
  /** Of all that were heard of. */
  keys(): readonly string[];
  /** Watches until `signal` is aborted; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** What is wrong although everybody else is served. */
  warnings(): readonly string[];
}

/** ClusterSigners alone. */
export interface ClusterSigners extends Signers {
  readonly reflector: Reflector<KubeObject>;
}

/**
 * Called with the key of each whose object or standing changed, and, after it, with the signer names
 * concerned.
 */
export type OnSigners = (keys: readonly string[], signerNames: readonly string[]) => void;

/** A ClusterSigner or Signer that got past the CRD's schema and yet cannot be served. */
export interface FaultySigner {
  readonly object: KubeObject;
  readonly error: SignerError;
}

/**
 * Watches ClusterSigners. Those whose Secret lies in another namespace than ours belong to another
 * installation: it serves them, and all that they are here is rivals for a signer name. Nobody
 * serves before all are known: a younger one that is heard of first would decide in its elder's
 * place, and some of what it decides is for ever.
 */
export function createSigners(component: Component, onChange: OnSigners): ClusterSigners {
  /** All, whoever serves them and whether they can be read or not. */
  const candidates = new Map<string, NameClaimant>();
  const known = new Map<string, ClusterSigner>();
  const faulty = new Map<string, FaultySigner>();
  let election = resolveNameConflicts<NameClaimant>([]);
  /** Signer names that were served when last looked at. */
  const served = new Set<string>();
  let settled = false;

  function observe(name: string, object: KubeObject | undefined): void {
    const before = candidates.get(name);
    candidates.delete(name);
    known.delete(name);
    faulty.delete(name);
    if (object !== undefined) admit(name, object);
    if (!settled) return;
    const now = candidates.get(name);
    elect(name, new Set([before, now].flatMap((each) => each?.spec.signerName ?? [])));
  }

  function elect(name: string, signerNames: ReadonlySet<string>): void {
    election = resolveNameConflicts([...candidates.values()]);
    const rivals = [...known.values()].filter((each) => signerNames.has(each.spec.signerName));
    onChange([...new Set([name, ...rivals.map((each) => each.metadata.name)])], [...signerNames]);
    for (const signerName of signerNames) measure(signerName);
  }

  /** After onChange: what ends there is counted a last time. */
  function measure(signerName: string): void {
    if (serving(signerName) !== undefined) served.add(signerName);
    else if (served.delete(signerName)) component.metrics.unserved(signerName);
  }

  function admit(name: string, object: KubeObject): void {
    const raw = object as RawSigner;
    const { signerName } = raw.spec ?? {};
    if (signerName !== undefined) candidates.set(name, { ...object, spec: { signerName } });
    const namespace = namespaceOf(raw) ?? component.secretNamespace;
    if (namespace === component.secretNamespace) read(name, object);
  }

  /** Of the shape that we know; anything else is logged and left alone. */
  function read(name: string, object: KubeObject): void {
    try {
      known.set(name, readClusterSigner(object));
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      faulty.set(name, { object, error });
      component.log.warn(
        { clusterSigner: name, code: error.code, error: error.message },
        'invalid ClusterSigner, not served',
      );
    }
  }

  function serving(signerName: string): ClusterSigner | undefined {
    const elected = election.serving.get(signerName);
    return elected && known.get(elected.metadata.name);
  }

  const reflector = createReflector<KubeObject>({
    ...component,
    path: CLUSTER_SIGNERS.collection(),
    onEvent: (key, now) => observe(key, now),
  });
  void reflector.whenSynced(new AbortController().signal).then(() => {
    settled = true;
    for (const name of new Set([...candidates.keys(), ...faulty.keys()])) {
      elect(name, new Set([candidates.get(name)?.spec.signerName ?? []].flat()));
    }
  });
  return {
    reflector,
    get settled() {
      return settled;
    },
    serving,
    all: () => [...election.serving.keys()].flatMap((signerName) => serving(signerName) ?? []),
    known: () => [...known.values()],
    get: (name) => known.get(name),
    faulty: (name) => faulty.get(name),
    elderOf: (name) => election.conflicting.get(name),
    get failure() {
      return reflector.failure;
    },
    keys: () => reflector.list().map(({ metadata }) => metadata.name),
    run: (signal) => reflector.run(signal),
    warnings: () => [],
  };
}

/** What an election must know of an object that perhaps cannot be read. */
interface RawSigner extends KubeObject {
  readonly spec?: {
    readonly signerName?: string;
    readonly authority?: RawAuthority & { readonly managed?: RawAuthority };
  };
}

interface RawAuthority {
  readonly secret?: { readonly namespace?: string };
}

/** Where its Secret lies; undefined where only a later version could say. */
function namespaceOf({ spec }: RawSigner): string | undefined {
  return (spec?.authority?.managed?.secret ?? spec?.authority?.secret)?.namespace;
}
