// SPDX-License-Identifier: Apache-2.0
import type { Exchange } from '#base/egress/exchange.ts';
import type { Client } from '#kube/client/client.ts';
import type { Clock, Delay } from '#base/ports.ts';
import type { AskDns } from './dns/client.ts';
import type { ConnectGuard } from '#base/egress/connect-guard.ts';

/** Fields of a Challenge that a solver needs. */
export interface ChallengeToSolve {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The DNS name or address to prove, without `*.`. */
  readonly dnsName: string;
  /** Whether the proof is for `*.` and the name. */
  readonly wildcard: boolean;
  /** Absent for dns-persist-01. */
  readonly token?: string | undefined;
  /**
   * Content of the file (http-01), or value of the TXT record (dns-01). Absent for dns-persist-01.
   */
  readonly key?: string | undefined;
}

/** Result of an attempt. A solver throws only for its own faults. */
export type SolverOutcome =
  | {
      readonly kind: 'done';
      /** Place, for people: the record's name after CNAMEs, or the route. */
      readonly at?: string | undefined;
    }
  | {
      readonly kind: 'problem';
      /** CamelCase, for programs. */
      readonly reason: string;
      /**
       * Cause and fix. Text of other servers is quoted. It has no ids that change with each
       * attempt.
       */
      readonly message: string;
      /** Milliseconds until the next attempt, if the other side requests it. */
      readonly retryAfterMs?: number | undefined;
    };

/**
 * Presents Challenges in one way. Both calls are idempotent, because a process that ends before it
 * writes the result repeats the call. A repeated `present` leaves one value. `cleanUp` removes only
 * this Challenge's value, and succeeds without one. A wildcard and its base name are presented
 * together, as two values of one name.
 */
export interface ChallengeSolver {
  readonly present: (challenge: ChallengeToSolve, signal: AbortSignal) => Promise<SolverOutcome>;
  readonly cleanUp: (challenge: ChallengeToSolve, signal: AbortSignal) => Promise<SolverOutcome>;
  /**
   * Presents again, and returns why another controller does not serve what is presented, or
   * undefined. Absent where no other controller takes part.
   */
  readonly look?: (challenge: ChallengeToSolve, signal: AbortSignal) => Promise<string | undefined>;
}

/** Parts of a solver besides its settings in the signer. */
export interface SolverContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly delay: Delay;
  /** Namespace of the components, for routes. */
  readonly ownNamespace: string;
  /** Namespace of the signer's Secrets. It is computed, never a field of the signer. */
  readonly credentialNamespace: string;
  /**
   * Reads one key of a Secret in `credentialNamespace` at each call.
   *
   * @throws SignerError if the Secret cannot be read. The message names it and the fix
   */
  readonly credential: (secret: string, key: string) => Promise<Buffer>;
  /** Queries DNS servers, by `createDnsClient`. */
  readonly ask: AskDns;
  /** host:port or https:// URLs of resolvers. The first one that answers counts. */
  readonly resolvers: readonly string[];
  /** Client for servers that a signer names, with `CHECK_LIMITS`. */
  readonly http: Exchange;
  /** Queries DNS servers that a signer names. */
  readonly askNamed: AskDns;
  /** Check of the addresses that such connections may reach. Default: all are allowed. */
  readonly guard?: ConnectGuard | undefined;
}
