// SPDX-License-Identifier: Apache-2.0
import type { Log } from '#base/ports.ts';

/** One object of an author's issuer kind. Plain, frozen data: a new spec is a new object. */
export interface Issuer<Config> {
  /** `metadata.name`. */
  readonly name: string;
  /** `metadata.namespace`. Absent for a cluster-scoped kind. */
  readonly namespace?: string;
  /** `metadata.uid`. */
  readonly uid: string;
  /** `metadata.generation`, which changes with the spec. */
  readonly generation: number;
  /** Signer name of its requests: `spec.signerName`, or `<plural>.<group>/<name>`. */
  readonly signerName: string;
  /** `spec.authority` as the schema parsed it: the same object until the generation changes. */
  readonly config: Config;
}

/** The data of a Secret: key to bytes, decoded from base64. */
export type SecretData = Readonly<Record<string, Uint8Array>>;

/** Parameter of each call of `check` and `sign`. */
export interface Context {
  /**
   * Aborts at the end of the call's time ({@link RunOptions.callSeconds}). Pass it to `fetch` and
   * similar functions.
   */
  readonly signal: AbortSignal;
  /** A structured logger. `info` and `debug` correspond to levels 0 and 1 of issuer-lib. */
  readonly log: Log;
  /** The API server's time in milliseconds since the epoch: the clock of requests and leaves. */
  readonly now: () => number;
  /**
   * Reads a Secret that `secrets` names, from the namespace of the issuer. For a cluster-scoped
   * issuer it reads from {@link RunOptions.secretNamespace}. Each call reads from the API server.
   *
   * @throws IssuerError if it does not exist, `secrets` does not name it, or it lacks the
   *   annotation `countersign.dev/signer-name: <signer name>`, by which its owner grants it
   */
  readonly secret: (name: string) => Promise<SecretData>;
}
