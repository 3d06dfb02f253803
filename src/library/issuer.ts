// SPDX-License-Identifier: Apache-2.0
import type { Log } from '../ports.ts';

/** One object of an author's Issuer kind, read. Plain data, never changed: a new spec is a new one. */
export interface Issuer<Config> {
  readonly name: string;
  /** Absent for a cluster-scoped kind. */
  readonly namespace?: string;
  readonly uid: string;
  /** `metadata.generation`: another one is another spec. */
  readonly generation: number;
  /** The signer name that its requests carry: `spec.signerName`, or `<plural>.<group>/<name>`. */
  readonly signerName: string;
  /** `spec.authority` as the author's schema read it: the same object until the generation changes. */
  readonly config: Config;
}

/** The values of a Secret, decoded from base64. */
export type SecretData = Readonly<Record<string, Uint8Array>>;

/** What `check` and `sign` get besides their arguments. */
export interface Context {
  /** Aborted when the call's time is up: {@link RunOptions.callSeconds}. Hand it on to what is called. */
  readonly signal: AbortSignal;
  /** A structured logger; `debug` and `info` are what issuer-lib's levels 1 and 0 are. */
  readonly log: Log;
  /** The API server's time, milliseconds since the epoch: what dates requests and leaves. */
  readonly now: () => number;
  /**
   * Reads a Secret that `secrets` names: of the issuer's own namespace, of a cluster-scoped issuer in
   * {@link RunOptions.secretNamespace}. One call to the API server each time.
   *
   * @throws IssuerError where it does not exist, is not named by `secrets`, or does not carry the
   * annotation `countersign.dev/signer-name: <signer name>`, by which its owner grants it
   */
  readonly secret: (name: string) => Promise<SecretData>;
}
