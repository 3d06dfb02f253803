// SPDX-License-Identifier: Apache-2.0
import type { RecordingComponent } from '../recording/recorder.ts';
import type { RequestOutcome } from '../loop/outcome.ts';
import type { SignerSet } from '#component/signers/signer-set.ts';
import type { Resource } from '#kube/resource/resource.ts';
import type { IssuingCas } from './issuing-ca.ts';

/** Handles requests of one kind. */
export interface RequestActor<T, S> {
  /**
   * Handles a request to its answer, or as far as possible now.
   *
   * @throws SignerError the reason why the request waits
   */
  readonly handle: (request: T, signer: S) => Promise<RequestOutcome>;
  /**
   * Drops the state of the request `namespace/name`, which is no longer pending.
   *
   * @throws KubeError if it is not dropped yet
   */
  readonly forget: (key: string) => Promise<void>;
}

/** Dependencies of the actors of all kinds. */
export interface RequestActorInit<T, S> {
  readonly component: RecordingComponent;
  readonly resource: Resource;
  readonly signers: Pick<SignerSet<S>, 'serving'>;
  /** The CAs that sign, and the holders that they refuse. */
  readonly cas: Pick<IssuingCas<S, T>, 'issuing' | 'refusalOf'>;
}
