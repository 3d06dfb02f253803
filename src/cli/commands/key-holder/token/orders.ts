// SPDX-License-Identifier: Apache-2.0
/** Orders of a key holder to the process of a token, and the answers. */

/** Attributes by which a private key is found in its token: by both, if both are set. */
export interface KeyReference {
  /** CKA_LABEL. */
  readonly label?: string;
  /** CKA_ID in hexadecimal. */
  readonly id?: string;
}

/** Opens a token: loads its module, and opens sessions. The answer is an `OpenedToken`. */
export interface OpenOrder {
  readonly op: 'open';
  /** The native addon that calls PKCS#11 modules. */
  readonly addon: string;
  readonly module: string;
  /** Label of the token. */
  readonly token: string;
}

/** A token that was opened. */
export interface OpenedToken {
  /** Signatures that it can make at once. */
  readonly sessions: number;
}

/**
 * Logs in, if the token requires it. An order of its own: a process that ends with it may have used
 * the PIN.
 */
export interface LoginOrder {
  readonly op: 'login';
  readonly pin: string;
}

/**
 * Finds the one private key of a reference, and names it `name` for later orders. The answer is
 * `{ isExtractable }`: the key can be exported (CKA_EXTRACTABLE), or the token lacks the attribute.
 */
export interface FindOrder {
  readonly op: 'find';
  readonly name: string;
  readonly key: KeyReference;
}

/**
 * Signs with a key that was found. The answer is the signature, for ECDSA r and s (PKCS#11 v2.40,
 * §2.3.1).
 */
export interface SignOrder {
  readonly op: 'sign';
  readonly name: string;
  /** ECDSA of a hash (CKM_ECDSA), or RSA PKCS#1 v1.5 of a message (CKM_SHA256_RSA_PKCS). */
  readonly mechanism: 'ecdsa' | 'rsa';
  readonly data: Uint8Array;
}

/** Tests whether the session is still logged in. */
export interface LookOrder {
  readonly op: 'look';
}

export type TokenOrder = OpenOrder | LoginOrder | FindOrder | SignOrder | LookOrder;

/** An order to the process. */
export interface TokenRequest {
  readonly id: number;
  readonly order: TokenOrder;
}

/**
 * The scope of a fault. A rejected PIN must not be tried again, since tokens lock after some
 * attempts. A fault of one key leaves the others usable.
 */
export const FAULT_SCOPES = ['pin', 'key', 'token'] as const;

export type FaultScope = (typeof FAULT_SCOPES)[number];

/**
 * The scope of a fault that the holder finds. `busy`: every session of the token signs. `process`:
 * the process ended, or was killed.
 */
export type HolderFaultScope = FaultScope | 'busy' | 'process';

/** An answer of the process. */
export type TokenReply =
  | { readonly id: number; readonly value: unknown; readonly fault?: undefined }
  | { readonly id: number; readonly fault: string; readonly scope: FaultScope };

/** A fault of a token. The message has no PIN and no part of a key. */
export class TokenFault extends Error {
  readonly scope: HolderFaultScope;

  constructor(message: string, scope: HolderFaultScope) {
    super(message);
    this.scope = scope;
  }
}
