// SPDX-License-Identifier: Apache-2.0
import { GROUP, VERSION, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import {
  resolveNameConflicts,
  type NameClaimant,
  type NameResolution,
} from '#api/signer/name-conflict.ts';
import type { KubeObject } from '#api/object/object.ts';
import { readClusterSigner } from '#api/signer/read-signer.ts';
import { SignerError } from '#base/errors.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { resource } from '#kube/resource/resource.ts';
import type { Component } from '../contract.ts';
import type { FaultySigner, Signers, SignersListener } from './signer-set.ts';

/** The API resource of ClusterSigners. */
export const CLUSTER_SIGNERS = resource({
  group: GROUP,
  version: VERSION,
  plural: 'clustersigners',
});

/** All known ClusterSigners, by name. */
interface ClusterState {
  readonly component: Component;
  /** All claimants of a signer name: valid or not, of this installation or another. */
  readonly claimants: Map<string, NameClaimant>;
  readonly known: Map<string, ClusterSigner>;
  readonly faulty: Map<string, FaultySigner>;
  readonly listeners: SignersListener[];
  /** Signer names that were served after the last change. */
  readonly served: Set<string>;
  names: NameResolution<NameClaimant>;
  /** Whether the first list is complete. Before it no ClusterSigner serves. */
  settled: boolean;
}

/**
 * Watches ClusterSigners. One whose CA Secret is in another namespace belongs to another
 * installation, and only claims its signer name. No ClusterSigner serves before all are known: a
 * younger one that is listed first would decide requests in place of an older one, and a denial is
 * final.
 */
export function createClusterSigners(component: Component): Signers {
  const state: ClusterState = {
    component,
    claimants: new Map(),
    known: new Map(),
    faulty: new Map(),
    listeners: [],
    served: new Set(),
    names: resolveNameConflicts<NameClaimant>([]),
    settled: false,
  };
  const reflector = createReflector<KubeObject>({
    ...component,
    path: CLUSTER_SIGNERS.collection(),
    onEvent: (name, now) => {
      observe(state, name, now);
    },
  });
  void reflector.whenSynced(new AbortController().signal).then(() => {
    settle(state);
  });
  return {
    get settled() {
      return state.settled;
    },
    get failure() {
      return reflector.failure;
    },
    serving: (signerName) => serving(state, signerName),
    all: () =>
      [...state.names.serving.keys()].flatMap((signerName) => serving(state, signerName) ?? []),
    onChange: (listener) => {
      state.listeners.push(listener);
    },
    run: (signal) => reflector.run(signal),
    warnings: () => [],
    known: () => [...state.known.values()],
    get: (name) => state.known.get(name),
    faulty: (name) => state.faulty.get(name),
    elderOf: (name) => state.names.conflicting.get(name),
    keys: () => reflector.list().map(({ metadata }) => metadata.name),
  };
}

function serving(
  { names, known }: Pick<ClusterState, 'names' | 'known'>,
  signerName: string,
): ClusterSigner | undefined {
  const claimant = names.serving.get(signerName);
  return claimant && known.get(claimant.metadata.name);
}

/**
 * Completes the first list: decides which ClusterSigners serve, and announces each one. Calls the
 * listeners for an empty list too, since some wait for `settled`.
 */
function settle(state: ClusterState): void {
  state.settled = true;
  const names = new Set([...state.claimants.keys(), ...state.faulty.keys()]);
  if (names.size === 0) for (const listener of state.listeners) listener([], []);
  for (const name of names) {
    announce(state, name, new Set(signerNameOf(state.claimants.get(name))));
  }
}

function observe(state: ClusterState, name: string, object: KubeObject | undefined): void {
  const before = state.claimants.get(name);
  state.claimants.delete(name);
  state.known.delete(name);
  state.faulty.delete(name);
  if (object !== undefined) store(state, name, object);
  if (!state.settled) return;
  const names = [before, state.claimants.get(name)].flatMap(signerNameOf);
  announce(state, name, new Set(names));
}

function store(state: ClusterState, name: string, object: KubeObject): void {
  // Its name and namespace alone are read, before its reader checks the spec.
  const raw = object as RawSigner;
  const { signerName } = raw.spec ?? {};
  if (signerName !== undefined) state.claimants.set(name, { ...object, spec: { signerName } });
  const { secretNamespace } = state.component;
  if ((namespaceOf(raw) ?? secretNamespace) === secretNamespace) read(state, name, object);
}

/** Reads an object. If its shape is unknown, logs that and leaves it unchanged. */
function read({ component, known, faulty }: ClusterState, name: string, object: KubeObject): void {
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

/**
 * Resolves conflicts over names. Announces this ClusterSigner with all that claim these signer
 * names.
 */
function announce(state: ClusterState, name: string, signerNames: ReadonlySet<string>): void {
  state.names = resolveNameConflicts([...state.claimants.values()]);
  const rivals = [...state.known.values()].filter((each) => signerNames.has(each.spec.signerName));
  const keys = [...new Set([name, ...rivals.map((each) => each.metadata.name)])];
  for (const listener of state.listeners) listener([...signerNames], keys);
  for (const signerName of signerNames) measure(state, signerName);
}

/**
 * Updates the metrics. Runs after the listeners, which may count the last requests of a signer
 * name.
 */
function measure(state: ClusterState, signerName: string): void {
  if (serving(state, signerName) !== undefined) state.served.add(signerName);
  else if (state.served.delete(signerName)) state.component.metrics.unserved(signerName);
}

function signerNameOf(claimant: NameClaimant | undefined): readonly string[] {
  return claimant === undefined ? [] : [claimant.spec.signerName];
}

/** The fields of an object, possibly invalid, that conflict resolution needs. */
interface RawSigner extends KubeObject {
  readonly spec?: {
    readonly signerName?: string;
    readonly authority?: RawAuthority & {
      readonly managed?: RawAuthority;
      readonly keyHolder?: { readonly namespace?: string };
    };
  };
}

interface RawAuthority {
  readonly secret?: { readonly namespace?: string };
}

/**
 * Returns the namespace of its CA Secret, or undefined if only a later version of the API defines
 * it.
 */
function namespaceOf({ spec }: RawSigner): string | undefined {
  const { managed, secret, keyHolder } = spec?.authority ?? {};
  return (managed?.secret ?? secret ?? keyHolder)?.namespace;
}
