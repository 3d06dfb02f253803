// SPDX-License-Identifier: Apache-2.0
import { resolveNameConflicts, type NameResolution } from '../../api/signer/name-conflict.ts';
import { readIssuer, type IssuerObject } from '../../api/signer/issuer.ts';
import { keyOf, type KubeObject } from '../../api/object/object.ts';
import { SignerError, attempt, messageOf } from '../../errors.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import { resource, type Resource } from '../../kube/resource/resource.ts';
import type { Component } from '../../runtime/component/component.ts';
import type { SignerSet } from '../../runtime/signers/signer-set.ts';
import type { AuthorityType } from '../define.ts';
import { issuerTrigger, readyTrigger } from './issuer-status.ts';
import type { Issuer } from '../issuer.ts';

/** An issuer with a valid spec: ours, and the author's part. */
export interface KnownIssuer<Config> extends IssuerObject {
  /** What `check` and `sign` get: one object for each generation. */
  readonly view: Issuer<Config>;
}

/** The issuers of an author's kind: which of them serves which signer name, and which to reconcile. */
export interface IssuerCache<Config> extends SignerSet<KnownIssuer<Config>> {
  readonly resource: Resource;
  /** The object as the API server sent it, by `namespace/name`. */
  readonly raw: (key: string) => KubeObject | undefined;
  /** The same, parsed; a SignerError SPEC_INVALID if its spec is invalid. */
  readonly read: (key: string) => KnownIssuer<Config> | SignerError | undefined;
  /** The older issuer that serves the same signer name, and so keeps this one from serving. */
  readonly conflictOf: (key: string) => string | undefined;
  /** Calls the listener with the key of each issuer to reconcile. */
  readonly onTrigger: (listener: (key: string) => void) => void;
  /** All keys. */
  readonly keys: () => readonly string[];
  /** Stores the answer to our own write. That is no reason to reconcile. */
  readonly observe: (written: KubeObject) => void;
}

type Parsed<Config> = KnownIssuer<Config> | SignerError;

/** Everything that the cache knows, and who listens. */
interface CacheState<Config> {
  readonly authority: AuthorityType<Config>;
  readonly known: Map<string, Parsed<Config>>;
  readonly views: Map<string, Issuer<Config>>;
  names: NameResolution<KnownIssuer<Config>>;
  /** Whether the first list is complete. Before it nothing is announced. */
  settled: boolean;
  /** True while the answer to our own write is applied: suppresses the trigger of the watch event. */
  applyingOwnWrite: boolean;
  readonly signerListeners: ((signerNames: readonly string[]) => void)[];
  readonly triggerListeners: ((key: string) => void)[];
}

/**
 * Watches the issuers of an author's kind and parses each of them once a generation.
 *
 * @param component - its client and timing; `run` of the result starts the watch
 */
export function createIssuerCache<Config>(
  component: Component,
  authority: AuthorityType<Config>,
): IssuerCache<Config> {
  const issuerResource = resource(authority.issuer);
  const state: CacheState<Config> = {
    authority,
    known: new Map(),
    views: new Map(),
    names: resolveNameConflicts<KnownIssuer<Config>>([]),
    settled: false,
    applyingOwnWrite: false,
    signerListeners: [],
    triggerListeners: [],
  };
  const reflector = createReflector<KubeObject>({
    ...component,
    path: issuerResource.collection(),
    onEvent: (key, now, before) => {
      applyEvent(state, key, now, before);
    },
  });
  void reflector.whenSynced(new AbortController().signal).then(() => {
    announceAll(state);
  });
  return {
    resource: issuerResource,
    get settled() {
      return state.settled;
    },
    get failure() {
      return reflector.failure;
    },
    serving: (signerName) => state.names.serving.get(signerName),
    all: () => [...state.names.serving.values()],
    onChange: (listener) => {
      state.signerListeners.push(listener);
    },
    onTrigger: (listener) => {
      state.triggerListeners.push(listener);
    },
    run: (signal) => reflector.run(signal),
    raw: (key) => reflector.get(key),
    read: (key) => state.known.get(key),
    // Signer names of namespaced kinds are derived from namespace and name, so they never conflict.
    conflictOf: (key) => state.names.conflicting.get(key),
    keys: () => [...state.known.keys()],
    observe: (written) => {
      state.applyingOwnWrite = true;
      try {
        reflector.applyWrite(written);
      } finally {
        state.applyingOwnWrite = false;
      }
    },
  };
}

/** The first list is complete: resolves conflicts, and announces every issuer. */
function announceAll<Config>(state: CacheState<Config>): void {
  state.settled = true;
  resolveConflicts(state);
  notifySigners(state, [...state.known.values()].flatMap(signerNameOf));
  trigger(state, [...state.known.keys()]);
}

function applyEvent<Config>(
  state: CacheState<Config>,
  key: string,
  now: KubeObject | undefined,
  before: KubeObject | undefined,
): void {
  const was = state.known.get(key);
  store(state, key, now);
  if (!state.settled) return;
  const changedSides = resolveConflicts(state);
  const affected = readyText(now) === readyText(before) ? [] : [was, state.known.get(key)];
  notifySigners(state, affected.flatMap(signerNameOf));
  const isQuiet = state.applyingOwnWrite || sameTrigger(now, before);
  trigger(state, isQuiet ? changedSides : [...changedSides, key]);
}

function store<Config>(
  state: CacheState<Config>,
  key: string,
  object: KubeObject | undefined,
): void {
  if (object !== undefined) state.known.set(key, parse(state, object));
  else {
    state.known.delete(key);
    state.views.delete(key);
  }
}

function parse<Config>(state: CacheState<Config>, object: KubeObject): Parsed<Config> {
  const issuer = attempt(() => readIssuer(object, state.authority.issuer));
  if (issuer instanceof SignerError) return issuer;
  const view = attempt(() => viewOf(state, issuer));
  return view instanceof SignerError ? view : { ...issuer, view };
}

/** The author's part is parsed once a generation: authors may cache by the identity of `config`. */
function viewOf<Config>(
  { authority, views }: CacheState<Config>,
  { metadata, spec, authority: part }: IssuerObject,
): Issuer<Config> {
  const key = keyOf(metadata);
  const { uid, name, namespace, generation = 0 } = metadata;
  const before = views.get(key);
  if (before?.uid === uid && before.generation === generation) return before;
  const view = Object.freeze({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    generation,
    signerName: spec.signerName,
    config: parseConfig(authority, part),
  });
  views.set(key, view);
  return view;
}

function parseConfig<Config>({ schema }: AuthorityType<Config>, part: unknown): Config {
  try {
    return schema.parse(part);
  } catch (error) {
    throw new SignerError({
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: `spec.authority: ${messageOf(error)}`,
      cause: error,
    });
  }
}

function notifySigners<Config>(state: CacheState<Config>, signerNames: readonly string[]): void {
  const each = [...new Set(signerNames)];
  for (const listener of state.signerListeners) listener(each);
}

function trigger<Config>(state: CacheState<Config>, keys: readonly string[]): void {
  for (const key of new Set(keys)) for (const listener of state.triggerListeners) listener(key);
}

/** @returns the keys of issuers that begin or cease to be kept from serving by an older one */
function resolveConflicts<Config>(state: CacheState<Config>): readonly string[] {
  const before = state.names.conflicting;
  state.names = resolveNameConflicts([...state.known.values()].flatMap((each) => usable(each)));
  const now = state.names.conflicting;
  return [...state.known.keys()].filter((key) => before.get(key) !== now.get(key));
}

/** Whether nothing changed that triggers a reconcile. The same object after a relist is no change. */
function sameTrigger(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  return a !== undefined && b !== undefined && issuerTrigger(a) === issuerTrigger(b);
}

function readyText(object: KubeObject | undefined): string | undefined {
  return object && readyTrigger(object);
}

function usable<Config>(read: Parsed<Config>): readonly KnownIssuer<Config>[] {
  return read instanceof SignerError ? [] : [read];
}

function signerNameOf<Config>(read: Parsed<Config> | undefined): readonly string[] {
  return read === undefined || read instanceof SignerError ? [] : [read.spec.signerName];
}
