// SPDX-License-Identifier: Apache-2.0
/** More would grow old: a server keeps some thousands for all its clients. */
const MOST = 32;
/** base64url (RFC 8555 §6.5.1); a server's own choice, but no novel. */
const NONCE = /^[A-Za-z0-9_-]{1,512}$/;

/** The nonces that a server gave with its answers (RFC 8555 §6.5). Each is used once. */
export interface Nonces {
  /** Keeps the `Replay-Nonce` of an answer, if it has one that can be used. */
  readonly keep: (header: string | string[] | undefined) => void;
  /** The newest one: what is older is more likely forgotten by the server. */
  readonly take: () => string | undefined;
  /** Forgets all, as when the server refuses one. */
  readonly clear: () => void;
}

export function createNonces(): Nonces {
  const kept: string[] = [];
  return {
    keep: (header) => {
      const nonce = nonceIn(header);
      if (nonce === undefined) return;
      kept.push(nonce);
      if (kept.length > MOST) kept.shift();
    },
    take: () => kept.pop(),
    clear: () => void kept.splice(0),
  };
}

/** The nonce in a `Replay-Nonce` header. */
export function nonceIn(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && NONCE.test(header) ? header : undefined;
}
