// SPDX-License-Identifier: Apache-2.0
import type { AcmeSession, SignerProblem } from '../../../acme-issuing/session.ts';
import type { PersistentProof } from '../../../acme-solving/dns01/persist.ts';

/** Whether a signer can order now. */
export type SessionState =
  | {
      readonly kind: 'ready';
      readonly session: AcmeSession;
      readonly persist: PersistentProof;
    }
  | ({ readonly kind: 'notReady' } & SignerProblem);

/** What Orders and Challenges call their servers with. The signer loop writes it. */
export interface Sessions {
  /** Undefined: it is not known yet. */
  readonly of: (signerKey: string) => SessionState | undefined;
  readonly set: (signerKey: string, state: SessionState | undefined) => void;
  /** The server refused for a reason that is the signer's: the signer loop looks at the account again. */
  readonly refused: (signerKey: string, problem: SignerProblem) => void;
  /** Calls the listener with the key of a signer that can order from now on, or cannot any more. */
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
