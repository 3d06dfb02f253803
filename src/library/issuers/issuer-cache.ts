// SPDX-License-Identifier: Apache-2.0
import { resolveNameConflicts } from '../../api/signer/name-conflict.ts';
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

/** An issuer whose spec can be read, ours and the author's part. */
export interface KnownIssuer<Config> extends IssuerObject {
  /** As the author sees it: one object a generation. */
  readonly view: Issuer<Config>;
}

/** The issuers of an author's kind: who serves which signer name, and what is to be reconciled. */
export interface IssuerCache<Config> extends SignerSet<KnownIssuer<Config>> {
  readonly resource: Resource;
  /** As the API server has it, by `namespace/name`. */
  readonly raw: (key: string) => KubeObject | undefined;
  /** The same, read; or why it cannot be. */
  readonly read: (key: string) => KnownIssuer<Config> | SignerError | undefined;
  /** The elder issuer of the same signer name, where that keeps it from serving. */
  readonly conflictOf: (key: string) => string | undefined;
  /** Called with each issuer that is to be reconciled. */
  readonly onTrigger: (listener: (key: string) => void) => void;
  /** All keys. */
  readonly keys: () => readonly string[];
  /** Takes in what a write of ours was answered with; that is no reason to reconcile. */
  readonly observe: (written: KubeObject) => void;
}

type Read<Config> = KnownIssuer<Config> | SignerError;

export function createIssuerCache<Config>(
  component: Component,
  authority: AuthorityType<Config>,
): IssuerCache<Config> {
  const kind = authority.issuer;
  const issuerResource = resource(kind);
  const known = new Map<string, Read<Config>>();
  const views = new Map<string, Issuer<Config>>();
  let election = resolveNameConflicts<KnownIssuer<Config>>([]);
  let settled = false;
  let own = false;
  const wakers: ((signerNames: readonly string[]) => void)[] = [];
  const triggers: ((key: string) => void)[] = [];

  function read(object: KubeObject): Read<Config> {
    const issuer = attempt(() => readIssuer(object, kind));
    if (issuer instanceof SignerError) return issuer;
    const view = attempt(() => viewOf(issuer));
    return view instanceof SignerError ? view : { ...issuer, view };
  }

  /** The author's part is read once a generation: what they keep by it stays good. */
  function viewOf({ metadata, spec, authority: part }: IssuerObject): Issuer<Config> {
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
      config: parsed(part),
    });
    views.set(key, view);
    return view;
  }

  function parsed(part: unknown): Config {
    try {
      return authority.schema.parse(part);
    } catch (error) {
      throw new SignerError({
        code: 'SPEC_INVALID',
        disposition: 'wait',
        message: `spec.authority: ${messageOf(error)}`,
        cause: error,
      });
    }
  }

  function observe(key: string, now: KubeObject | undefined, before: KubeObject | undefined): void {
    const was = known.get(key);
    take(key, now);
    if (!settled) return;
    const turned = elect();
    const woken = readyText(now) === readyText(before) ? [] : [was, known.get(key)];
    wake(woken.flatMap(signerNameOf));
    trigger(own || sameTrigger(now, before) ? turned : [...turned, key]);
  }

  function take(key: string, now: KubeObject | undefined): void {
    if (now !== undefined) known.set(key, read(now));
    else {
      known.delete(key);
      views.delete(key);
    }
  }

  function wake(signerNames: readonly string[]): void {
    const each = [...new Set(signerNames)];
    for (const waker of wakers) waker(each);
  }

  function trigger(keys: readonly string[]): void {
    for (const key of new Set(keys)) for (const listener of triggers) listener(key);
  }

  /** @returns the keys of those that stood back and need not now, or the other way round */
  function elect(): readonly string[] {
    const before = election.conflicting;
    election = resolveNameConflicts([...known.values()].flatMap((each) => usable(each)));
    return [...known.keys()].filter((key) => before.get(key) !== election.conflicting.get(key));
  }

  const reflector = createReflector<KubeObject>({
    ...component,
    path: issuerResource.collection(),
    onEvent: observe,
  });
  void reflector.whenSynced(new AbortController().signal).then(() => {
    settled = true;
    elect();
    wake([...known.values()].flatMap(signerNameOf));
    trigger([...known.keys()]);
  });

  return {
    resource: issuerResource,
    get settled() {
      return settled;
    },
    get failure() {
      return reflector.failure;
    },
    serving: (signerName) => election.serving.get(signerName),
    all: () => [...election.serving.values()],
    onChange: (listener) => {
      wakers.push(listener);
    },
    onTrigger: (listener) => {
      triggers.push(listener);
    },
    run: (signal) => reflector.run(signal),
    raw: (key) => reflector.get(key),
    read: (key) => known.get(key),
    // Names of namespaced kinds are derived: no two issuers have one.
    conflictOf: (key) => election.conflicting.get(key),
    keys: () => [...known.keys()],
    observe: (written) => {
      own = true;
      try {
        reflector.applyWrite(written);
      } finally {
        own = false;
      }
    },
  };
}

/** The same object, told anew after an outage, is no change either. */
function sameTrigger(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  return a !== undefined && b !== undefined && issuerTrigger(a) === issuerTrigger(b);
}

function readyText(object: KubeObject | undefined): string | undefined {
  return object && readyTrigger(object);
}

function usable<Config>(read: Read<Config>): readonly KnownIssuer<Config>[] {
  return read instanceof SignerError ? [] : [read];
}

function signerNameOf<Config>(read: Read<Config> | undefined): readonly string[] {
  return read === undefined || read instanceof SignerError ? [] : [read.spec.signerName];
}
