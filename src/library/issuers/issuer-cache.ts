// SPDX-License-Identifier: Apache-2.0
import { resolveNameConflicts, type NameResolution } from '#api/signer/name-conflict.ts';
import { readIssuer, type IssuerObject } from '#api/signer/issuer.ts';
import { keyOf, type KubeObject } from '#api/object/object.ts';
import { SignerError, attempt, messageOf } from '#base/errors.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { resource, type Resource } from '#kube/resource/resource.ts';
import type { Component } from '#component/contract.ts';
import type { SignerSet } from '#component/signers/signer-set.ts';
import type { AuthorityType } from '../define.ts';
import { createIssuerQuota, type IssuerQuota } from './issuer-quota.ts';
import { issuerTrigger, readyTrigger } from './issuer-status.ts';
import type { Issuer } from '../issuer.ts';
import * as messages from '../messages.ts';

/** An issuer with a valid spec: our part, and the author's part. */
export interface KnownIssuer<Config> extends IssuerObject {
  /** Parameter of `check` and `sign`: one object for each generation. */
  readonly view: Issuer<Config>;
  /** Secrets that they may read: the result of the author's `secrets` for the view's config. */
  readonly secretNames: readonly string[];
}

/** A view, and other values derived from the author's part of the same generation. */
type DerivedView<Config> = Pick<KnownIssuer<Config>, 'view' | 'secretNames'>;

/** Issuers of an author's kind: which one serves each signer name, and which to reconcile. */
export interface IssuerCache<Config> extends SignerSet<KnownIssuer<Config>> {
  readonly resource: Resource;
  /** Returns the object as the API server sent it, by `namespace/name`. */
  readonly raw: (key: string) => KubeObject | undefined;
  /** Returns the same, parsed, or a SignerError SPEC_INVALID if its spec is invalid. */
  readonly read: (key: string) => KnownIssuer<Config> | SignerError | undefined;
  /**
   * Returns the older issuer that serves the same signer name, which keeps this one from serving.
   */
  readonly conflictOf: (key: string) => string | undefined;
  /** Returns why an issuer is not served that its namespace has no room for. */
  readonly beyondQuota: (key: string) => string | undefined;
  /** Calls the listener with the key of each issuer to reconcile. */
  readonly onTrigger: (listener: (key: string) => void) => void;
  /** Returns all keys. */
  readonly keys: () => readonly string[];
  /** Stores the answer to our own write, which is not a reason to reconcile. */
  readonly observe: (written: KubeObject) => void;
}

type ParsedIssuer<Config> = KnownIssuer<Config> | SignerError;

/** State and listeners of the cache. */
interface CacheState<Config> {
  readonly authority: AuthorityType<Config>;
  /** Undefined for a cluster-scoped kind, whose issuers administrators write. */
  readonly quota: IssuerQuota | undefined;
  readonly known: Map<string, ParsedIssuer<Config>>;
  readonly views: Map<string, DerivedView<Config>>;
  names: NameResolution<KnownIssuer<Config>>;
  /** Whether the first list is complete. Before that, listeners are not called. */
  settled: boolean;
  /**
   * True while the answer to our own write is applied, to suppress the trigger of the watch event.
   */
  applyingOwnWrite: boolean;
  readonly signerListeners: ((signerNames: readonly string[]) => void)[];
  readonly triggerListeners: ((key: string) => void)[];
}

/**
 * Watches the issuers of an author's kind and parses each of them once a generation.
 *
 * @param component - its client and timing. `run` of the result starts the watch
 */
export function createIssuerCache<Config>(
  component: Component,
  authority: AuthorityType<Config>,
): IssuerCache<Config> {
  const issuerResource = resource(authority.issuer);
  const { namespaced, plural } = authority.issuer;
  const quota = namespaced ? createIssuerQuota(plural) : undefined;
  const state: CacheState<Config> = {
    authority,
    quota,
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
    ...(quota === undefined ? {} : { transform: quota.reduce }),
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
    beyondQuota: (key) => {
      const object = reflector.get(key);
      return object && quota?.beyond(object);
    },
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

/** Resolves conflicts, and announces every issuer, after the first list is complete. */
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
    state.quota?.release(key);
  }
}

function parse<Config>(state: CacheState<Config>, object: KubeObject): ParsedIssuer<Config> {
  const fault = state.quota?.admit(object);
  if (fault !== undefined) return unusable(fault);
  const issuer = attempt(() => readIssuer(specified(state, object), state.authority.issuer));
  if (issuer instanceof SignerError) return issuer;
  const viewed = attempt(() => viewOf(state, issuer));
  return viewed instanceof SignerError ? viewed : { ...issuer, ...viewed };
}

/**
 * Returns the issuer with a spec of our form. A kind of the author's own has another.
 *
 * @throws SignerError SPEC_INVALID
 */
function specified<Config>({ authority }: CacheState<Config>, object: KubeObject): KubeObject {
  const { spec } = object;
  try {
    return Object.assign({}, object, { spec: authority.issuerSpec(spec) });
  } catch (error) {
    throw unusable(messages.invalidSpec(messageOf(error)));
  }
}

function unusable(message: string): SignerError {
  return new SignerError({ code: 'SPEC_INVALID', disposition: 'wait', message });
}

/** Parses the author's part once a generation: authors may cache by the identity of `config`. */
function viewOf<Config>(
  { authority, views }: CacheState<Config>,
  { metadata, spec, authority: part }: IssuerObject,
): DerivedView<Config> {
  const key = keyOf(metadata);
  const { uid, name, namespace, generation = 0 } = metadata;
  const before = views.get(key);
  if (before?.view.uid === uid && before.view.generation === generation) return before;
  const config = authored(() => authority.schema.parse(part));
  const view = Object.freeze({
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    generation,
    signerName: spec.signerName,
    config,
  });
  const viewed = { view, secretNames: authored(() => namesOf(authority, config)) };
  views.set(key, viewed);
  return viewed;
}

/**
 * A DNS subdomain, as the API server requires for Secrets. `..` would lead to another path of the
 * API.
 */
const SECRET_NAME =
  /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function namesOf<Config>({ secrets }: AuthorityType<Config>, config: Config): readonly string[] {
  const names = [...secrets(config)];
  const wrong = names.find((each) => !SECRET_NAME.test(each));
  if (wrong !== undefined) throw new Error(messages.notASecretName(wrong));
  return names;
}

/**
 * Calls a function of the author about one issuer. Its error is this issuer's fault, and must not
 * stop others.
 */
function authored<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new SignerError({
      code: 'SPEC_INVALID',
      disposition: 'wait',
      message: messages.invalidAuthority(messageOf(error)),
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

/** @returns keys of issuers that an older issuer starts or stops blocking */
function resolveConflicts<Config>(state: CacheState<Config>): readonly string[] {
  const before = state.names.conflicting;
  state.names = resolveNameConflicts([...state.known.values()].flatMap((each) => usable(each)));
  const now = state.names.conflicting;
  return [...state.known.keys()].filter((key) => before.get(key) !== now.get(key));
}

/**
 * Reports whether no change triggers a reconcile. The same object after a relist is not a change.
 */
function sameTrigger(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  return a !== undefined && b !== undefined && issuerTrigger(a) === issuerTrigger(b);
}

function readyText(object: KubeObject | undefined): string | undefined {
  return object && readyTrigger(object);
}

function usable<Config>(read: ParsedIssuer<Config>): readonly KnownIssuer<Config>[] {
  return read instanceof SignerError ? [] : [read];
}

function signerNameOf<Config>(read: ParsedIssuer<Config> | undefined): readonly string[] {
  return read === undefined || read instanceof SignerError ? [] : [read.spec.signerName];
}
