// SPDX-License-Identifier: Apache-2.0
/** The answers of upstream CAs, which are read again after a delay. */
import { BoundedMap } from '#base/bounded-map.ts';
import type { Clock, Random } from '#base/ports.ts';
import { isWithinDelay, serverTime } from '#component/server-time.ts';
import type { Client } from '#kube/client/client.ts';
import { backoffDelay } from '#kube/wait/backoff.ts';
import type { UpstreamAnswer, UpstreamVerdict } from './answer.ts';

/** Dependencies of {@link createKeptAnswers}. */
interface KeptAnswersInit {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
}

/** The request for a key that waits. */
interface WantedAnswer {
  /** Another key or upstream CA has another. */
  readonly id: string;
  /** `<namespace>/<name>` of the CertificateRequest. */
  readonly certificateRequest?: string;
  /** Reads the request, or creates it. Reports failures of the upstream CA as an answer. */
  readonly ask: () => Promise<UpstreamVerdict>;
}

/** Calls upstream CAs, at most once for each delay, however often a signer is reconciled. */
export interface KeptAnswers {
  /**
   * Returns the answer for a signer. Undefined, and forgets the last one, if no request is wanted.
   *
   * @param key - `<namespace>/<name>` of the signer
   */
  answerFor(key: string, wanted: WantedAnswer | undefined): Promise<UpstreamAnswer | undefined>;
}

interface KeptAnswer {
  readonly id: string;
  readonly answer: UpstreamAnswer;
  /** Milliseconds, by the API server's clock: the time of the last read. */
  readonly readAt: number;
  /** Number of reads since the kind of the answer changed. */
  readonly reads: number;
}

/** Signers whose answers are kept. An evicted one is read again. */
const MAX_ANSWERS = 1_000;
/** Delay until the next read of a waiting request, doubled for each read. */
const FIRST_READ_MS = 5_000;
/** Limit on that delay. */
const MAX_READ_MS = 60_000;
/** Limit on that delay for an upstream CA that cannot be reached. */
const MAX_UNAVAILABLE_MS = 600_000;

export function createKeptAnswers(init: KeptAnswersInit): KeptAnswers {
  const known = new BoundedMap<string, KeptAnswer>(MAX_ANSWERS);
  return {
    answerFor: async (key, wanted) => {
      if (wanted === undefined) {
        known.delete(key);
        return undefined;
      }
      const { id, certificateRequest, ask } = wanted;
      const last = known.get(key);
      const before = last?.id === id ? last : undefined;
      if (before !== undefined && isKept(before, serverTime(init))) return before.answer;
      const verdict = await ask();
      const reads = before?.answer.kind === verdict.kind ? before.reads + 1 : 0;
      const readAt = serverTime(init);
      const lookAt = Math.floor(readAt + nextReadDelay(init, verdict, reads));
      const answer =
        certificateRequest === undefined
          ? { ...verdict, lookAt }
          : { ...verdict, certificateRequest, lookAt };
      known.set(key, { id, answer, readAt, reads });
      return answer;
    },
  };
}

function isKept({ readAt, answer }: KeptAnswer, now: number): boolean {
  return isWithinDelay(now, { from: readAt, until: answer.lookAt });
}

function nextReadDelay(
  { random }: KeptAnswersInit,
  { kind }: UpstreamVerdict,
  reads: number,
): number {
  const maxMs = kind === 'unavailable' ? MAX_UNAVAILABLE_MS : MAX_READ_MS;
  // A final request is read again, too: a user who deletes it wants it created again.
  const firstMs = kind === 'chain' || kind === 'refused' ? maxMs : FIRST_READ_MS;
  return backoffDelay(reads, { firstMs, maxMs, random });
}
