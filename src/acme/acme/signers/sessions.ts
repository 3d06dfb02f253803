// SPDX-License-Identifier: Apache-2.0
import type { AcmeSession, SignerProblem } from '#acme/issuing/session.ts';
import type { PersistentProof } from '#acme/solving/dns01/persist.ts';

/** State of a signer: ready to order, or the reason that it is not. */
export type SessionState =
  | {
      readonly kind: 'ready';
      readonly session: AcmeSession;
      readonly persist: PersistentProof;
    }
  | ({ readonly kind: 'notReady' } & SignerProblem);

/** Sessions for the calls of Orders and Challenges. The signer loop writes them. */
export interface Sessions {
  /** Returns undefined while the state is unknown. */
  readonly of: (signerKey: string) => SessionState | undefined;
  readonly set: (signerKey: string, state: SessionState | undefined) => void;
  /** Reports a refusal that the signer causes. The signer loop then checks the account again. */
  readonly refused: (signerKey: string, problem: SignerProblem) => void;
  /** Calls the listener with the key of a signer that became ready, or stopped being ready. */
  readonly onChange: (listener: (signerKey: string) => void) => void;
  readonly onRefused: (listener: (signerKey: string, problem: SignerProblem) => void) => void;
  readonly clear: () => void;
}

export function createSessions(): Sessions {
  const states = new Map<string, SessionState>();
  const changed: ((signerKey: string) => void)[] = [];
  const refused: ((signerKey: string, problem: SignerProblem) => void)[] = [];
  return {
    of: (key) => states.get(key),
    set: (key, state) => {
      const before = states.get(key);
      if (state === undefined) states.delete(key);
      else states.set(key, state);
      const isSame = before?.kind === 'ready' ? state === before : before?.kind === state?.kind;
      if (!isSame) for (const listener of changed) listener(key);
    },
    refused: (key, problem) => {
      for (const listener of refused) listener(key, problem);
    },
    onChange: (listener) => {
      changed.push(listener);
    },
    onRefused: (listener) => {
      refused.push(listener);
    },
    clear: () => {
      states.clear();
    },
  };
}
