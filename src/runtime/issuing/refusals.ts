// SPDX-License-Identifier: Apache-2.0
/** Who gets no certificate because theirs was revoked: by the Revocations that stand (ADR 0052). */
import { REVOCATIONS, type Revocation } from '../../api/revocation/revocation.ts';
import type { ClusterSigner } from '../../api/signer/cluster-signer.ts';
import { isNamespaced } from '../../api/signer/signer.ts';
import { SignerError } from '../../errors.ts';
import { resource } from '../../kube/resource/resource.ts';
import { createReflector } from '../../kube/watch/reflector.ts';
import { createWatchSet } from '../../kube/watch/watch-set.ts';
import { refusalBy, type HolderRefusal, type RefusalInput } from '../../revocation/holders.ts';
import type { Component } from '../component/component.ts';
import type { Sources } from '../requests/request-controller-init.ts';

/** The Revocations of served signers. */
export interface Refusals extends Pick<
  Sources<ClusterSigner>,
  'serve' | 'listed' | 'onChange' | 'notReady' | 'stop'
> {
  /**
   * @returns undefined: no Revocation of the signer names this holder
   * @throws SignerError (`authority`) REVOCATIONS_UNKNOWN where they cannot be listed
   */
  readonly refusalOf: (signer: ClusterSigner, input: RefusalInput) => HolderRefusal | undefined;
}

const PATHS = resource(REVOCATIONS);
/** The one watch of all Revocations. */
const ALL = 'revocations';

/** Watches Revocations while a served ClusterSigner has `profile.crl`, and nothing otherwise. */
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
      watches
        .unread()

        .map(([key, each]) => `${key}: ${each.failure ?? 'not listed yet'}`),
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

/** Whether the Revocations of a signer are read: only those of ClusterSigners with CRLs are. */
function readsRevocations(signer: ClusterSigner): boolean {
  return signer.spec.profile.crl !== undefined && !isNamespaced(signer);
}

function unknown(failure: string | undefined): SignerError {
  return new SignerError({
    code: 'REVOCATIONS_UNKNOWN',
    disposition: 'authority',
    message: `Revocations cannot be listed, so nobody knows who is to get no certificate: ${failure ?? 'not listed yet'}; grant list and watch of revocations.countersign.dev (countersign rbac), and install deploy/crds/revocations.yaml`,
  });
}
