// SPDX-License-Identifier: Apache-2.0
import { readExternalSigner, type ExternalSigner } from '#api/external/external-signer.ts';
import { EXTERNAL_CLUSTER_SIGNERS } from '#api/external/names.ts';
import type { KubeObject } from '#api/object/object.ts';
import { resolveNameConflicts } from '#api/signer/name-conflict.ts';
import { SignerError } from '#base/errors.ts';
import { resource } from '#kube/resource/resource.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import type { Component } from '../contract.ts';
import { watchClaimedNames, type ClaimedNames } from './claimed-names.ts';
import type { FaultySigner, SignerSet, SignersListener } from './signer-set.ts';

export const EXTERNAL_SIGNERS = resource(EXTERNAL_CLUSTER_SIGNERS);

/** All ExternalClusterSigners, by name. */
export interface ExternalSigners extends SignerSet<ExternalSigner> {
  readonly onChange: (listener: SignersListener) => void;
  /** Returns a signer with a valid spec. */
  readonly get: (name: string) => ExternalSigner | undefined;
  readonly faulty: (name: string) => FaultySigner | undefined;
  /**
   * Returns the signer that serves its signer name in its place: `ClusterSigner x`, or an older
   * `ExternalClusterSigner x`.
   */
  readonly rivalOf: (name: string) => string | undefined;
  /** Applies the status that this process wrote. */
  readonly applyWrite: (signer: KubeObject) => void;
}

interface State {
  readonly component: Component;
  readonly known: Map<string, ExternalSigner>;
  readonly faulty: Map<string, FaultySigner>;
  readonly claimed: ClaimedNames;
  readonly listeners: SignersListener[];
  /** Signer name → name of the object that serves it. */
  serving: ReadonlyMap<string, string>;
  rivals: ReadonlyMap<string, string>;
  settled: boolean;
}

/**
 * Watches ExternalClusterSigners. A ClusterSigner with the same signer name has precedence,
 * whichever is older, because its components do not know this kind.
 */
export function watchExternalSigners(component: Component): ExternalSigners {
  const state: State = {
    component,
    known: new Map(),
    faulty: new Map(),
    claimed: watchClaimedNames(component, (names) => {
      if (state.settled) announce(state, [], names);
    }),
    listeners: [],
    serving: new Map(),
    rivals: new Map(),
    settled: false,
  };
  const others = state.claimed.watch;
  const own = createReflector<KubeObject>({
    ...component,
    path: EXTERNAL_SIGNERS.collection(),
    onEvent: (name, now) => {
      observe(state, name, now);
    },
  });
  const forever = new AbortController().signal;
  void Promise.all([own, others].map((each) => each.whenSynced(forever))).then(() => {
    state.settled = true;
    announce(state, [...state.known.keys(), ...state.faulty.keys()], []);
  });
  const servingOf = (signerName: string): ExternalSigner | undefined =>
    state.known.get(state.serving.get(signerName) ?? '');
  return {
    get settled() {
      return state.settled;
    },
    get failure() {
      return own.failure ?? others.failure;
    },
    serving: servingOf,
    all: () => [...state.serving.keys()].flatMap((name) => servingOf(name) ?? []),
    onChange: (listener) => {
      state.listeners.push(listener);
    },
    run: async (signal) => {
      await Promise.all([own.run(signal), others.run(signal)]);
    },
    get: (name) => state.known.get(name),
    faulty: (name) => state.faulty.get(name),
    rivalOf: (name) => state.rivals.get(name),
    applyWrite: ({ metadata, ...written }: KubeObject & { readonly status?: unknown }) => {
      // The sent spec contains parsed values, which the reader rejects in a user's spec.
      const raw = own.get(metadata.name);
      if (raw === undefined) return;
      own.applyWrite(Object.assign({}, raw, { metadata, status: written.status }));
    },
  };
}

function observe(state: State, name: string, object: KubeObject | undefined): void {
  const before = state.known.get(name)?.spec.signerName;
  state.known.delete(name);
  state.faulty.delete(name);
  if (object !== undefined) read(state, name, object);
  if (state.settled) announce(state, [name], before === undefined ? [] : [before]);
}

function read({ component, known, faulty }: State, name: string, object: KubeObject): void {
  try {
    known.set(name, readExternalSigner(object));
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    faulty.set(name, { object, error });
    const { code, message } = error;
    component.log.warn({ externalSigner: name, code, error: message }, 'invalid, not served');
  }
}

/** Decides which signers serve. Announces them with all signers that claim their names. */
function announce(state: State, changed: readonly string[], names: readonly string[]): void {
  resolve(state);
  const { known, listeners } = state;
  const own = changed.flatMap((name) => known.get(name)?.spec.signerName ?? []);
  const concerned = new Set([...names, ...own]);
  const rivals = [...known]
    .filter(([, { spec }]) => concerned.has(spec.signerName))
    .map(([name]) => name);
  const keys = [...new Set([...changed, ...rivals])];
  for (const listener of listeners) listener([...concerned], keys);
}

function resolve(state: State): void {
  const { claimantOf } = state.claimed;
  const { serving, conflicting } = resolveNameConflicts<ExternalSigner>([...state.known.values()]);
  const rivals = new Map<string, string>(
    [...conflicting].map(([name, elder]) => [name, `ExternalClusterSigner ${elder}`]),
  );
  const free: [signerName: string, name: string][] = [];
  for (const [signerName, { metadata }] of serving) {
    const other = claimantOf(signerName);
    if (other === undefined) free.push([signerName, metadata.name]);
    else rivals.set(metadata.name, `ClusterSigner ${other}`);
  }
  state.rivals = rivals;
  state.serving = new Map(free);
}
