// SPDX-License-Identifier: Apache-2.0
/** Holders that get no certificate because a current Revocation covers theirs (ADR 0052). */
import { REVOCATIONS } from '#api/revocation/names.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { SignerError } from '#base/errors.ts';
import { resource } from '#kube/resource/resource.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';
import { refusalBy, type HolderRefusal, type RefusalInput } from '#ca/revocation/holders.ts';
import type { Component } from '#component/contract.ts';
import type { Sources } from '../loop/request-controller-init.ts';
import * as messages from './messages.ts';

/** The Revocations of served signers. */
export interface Refusals extends Pick<
  Sources<ClusterSigner>,
  'serve' | 'listed' | 'onChange' | 'notReady' | 'stop'
> {
  /**
   * @returns undefined if no Revocation of the signer names this holder
   * @throws SignerError (`authority`) REVOCATIONS_UNKNOWN if they cannot be listed
   */
  readonly refusalOf: (signer: ClusterSigner, input: RefusalInput) => HolderRefusal | undefined;
}

const PATHS = resource(REVOCATIONS);
/** Key of the single watch of all Revocations. */
const ALL = 'revocations';

/** Watches Revocations while a served ClusterSigner has `profile.crl`. */
export function createRefusals(component: Component): Refusals {
  const listeners: ((signerName: string) => void)[] = [];
  const stopped = new AbortController();
  let served: readonly ClusterSigner[] = [];
  const watches = createWatchSet<Revocation>(() => {
    const reflector = createReflector<Revocation>({
      ...component,
      path: PATHS.collection(),
      onEvent: () => undefined,
    });
    void reflector.whenSynced(stopped.signal).then(
      () => {
        for (const { spec } of served) for (const tell of listeners) tell(spec.signerName);
      },
      () => undefined,
    );
    return reflector;
  });
  return {
    serve: (signers) => {
      served = signers.filter(readsRevocations);
      watches.reconcile(served.length === 0 ? [] : [ALL]);
    },
    listed: (signer) => {
      const watch = watches.get(ALL);
      return !readsRevocations(signer) || watch?.synced === true || watch?.failure !== undefined;
    },
    onChange: (listener) => {
      listeners.push(listener);
    },
    notReady: () =>
      watches.unread().map(([key, each]) => messages.unlistedRevocations(key, each.failure)),
    stop: () => {
      stopped.abort();
      return watches.stop();
    },
    refusalOf: (signer, input) => {
      if (!readsRevocations(signer)) return undefined;
      const watch = watches.get(ALL);
      if (watch?.synced !== true) throw unknown(watch?.failure);
      return refusalBy(watch.list(), signer.spec.signerName, input);
    },
  };
}

/**
 * Reports whether the Revocations of a signer are read: only those of ClusterSigners with CRLs are.
 */
function readsRevocations(signer: ClusterSigner): boolean {
  return signer.spec.profile.crl !== undefined && !isNamespaced(signer);
}

function unknown(failure: string | undefined): SignerError {
  return new SignerError({
    code: 'REVOCATIONS_UNKNOWN',
    disposition: 'authority',
    message: messages.revocationsUnknown(failure),
  });
}
