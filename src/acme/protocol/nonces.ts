// SPDX-License-Identifier: Apache-2.0
/** Limit on stored nonces. Servers drop old nonces, so keep few. */
const MAX_NONCES_KEPT = 32;
/** Base64url (RFC 8555 §6.5.1). The server chooses the length, up to this limit. */
const NONCE = /^[A-Za-z0-9_-]{1,512}$/;

/** Nonces from the server's answers (RFC 8555 §6.5). Each is used once. */
export interface Nonces {
  /** Stores the `Replay-Nonce` of an answer, if it is usable. */
  readonly keep: (header: string | string[] | undefined) => void;
  /** Returns the newest nonce: the server drops older ones first. */
  readonly take: () => string | undefined;
  /** Forgets all nonces, as after the server refused one. */
  readonly clear: () => void;
}

export function createNonces(): Nonces {
  const kept: string[] = [];
  return {
    keep: (header) => {
      const nonce = nonceIn(header);
      if (nonce === undefined) return;
      kept.push(nonce);
      if (kept.length > MAX_NONCES_KEPT) kept.shift();
    },
    take: () => kept.pop(),
    clear: () => void kept.splice(0),
  };
}

/** Returns the nonce of a `Replay-Nonce` header. */
export function nonceIn(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && NONCE.test(header) ? header : undefined;
}
