// SPDX-License-Identifier: Apache-2.0
import type { Exchange } from '../acme/exchange.ts';
import type { Client } from '../kube/client/client.ts';
import type { Clock, Delay } from '../ports.ts';
import type { AskDns } from './dns/client.ts';
import type { ConnectGuard } from '../egress/connect-guard.ts';

/** A Challenge, as far as a solver needs it. */
export interface ChallengeToSolve {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The DNS name or address that is proved, without `*.`. */
  readonly dnsName: string;
  /** Whether it is proved for `*.` and the name. */
  readonly wildcard: boolean;
  /** Absent for dns-persist-01. */
  readonly token?: string | undefined;
  /** Content of the file (http-01), or value of the TXT record (dns-01). Absent for dns-persist-01. */
  readonly key?: string | undefined;
}

/** What came of an attempt. None of it is thrown: a solver throws for its own faults only. */
export type SolverOutcome =
  | {
      readonly kind: 'done';
      /** Where it is, for people: the record's name after CNAMEs, or the route. */
      readonly at?: string | undefined;
    }
  | {
      readonly kind: 'problem';
      /** CamelCase, for programs. */
      readonly reason: string;
      /** What happened, and what to do; strangers' words are quoted. Without ids that change with each attempt. */
      readonly message: string;
      /** Not before so many milliseconds, where the other side asks for it. */
      readonly retryAfterMs?: number | undefined;
    };

/**
 * Presents Challenges in one way. Both calls are idempotent: a process that ends between a call and its note repeats it.
 * A repeated `present` leaves one value; a `cleanUp` removes this Challenge's value only, and is done where there is
 * none. A wildcard and its base name are presented together, as two values at one name.
 */
export interface ChallengeSolver {
  readonly present: (challenge: ChallengeToSolve, signal: AbortSignal) => Promise<SolverOutcome>;
  readonly cleanUp: (challenge: ChallengeToSolve, signal: AbortSignal) => Promise<SolverOutcome>;
}

/** What a solver is made from besides its settings in the signer. */
export interface SolverContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly delay: Delay;
  /** Where the components are; routes are made there. */
  readonly ownNamespace: string;
  /** Where the signer's Secrets are: computed, never a field of the signer. */
  readonly credentialNamespace: string;
  /**
   * The value of one key of a Secret in `credentialNamespace`, read at each call.
   *
   * @throws SignerError where it cannot be read; the message names the Secret and says what to do
   */
  readonly credential: (secret: string, key: string) => Promise<Buffer>;
  /** Asks DNS servers, by `createDnsClient`. */
  readonly ask: AskDns;
  /** host:port or https:// URLs: who is asked where a name leads to, one after the other until one answers. */
  readonly resolvers: readonly string[];
  /** Calls of servers that a signer names, with `CHECK_LIMITS`. */
  readonly http: Exchange;
  /** The same of DNS servers that a signer names. */
  readonly askNamed: AskDns;
  /** Where connections to servers that a signer names may lead; absent: everywhere. */
  readonly guard?: ConnectGuard | undefined;
}
