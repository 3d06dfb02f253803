// SPDX-License-Identifier: Apache-2.0
import type { ConnectGuard } from '../../egress/connect-guard.ts';
import type { ForeignDomain } from '../../spiffe/foreign-domain.ts';
import { fetchBundle, type Fetched } from './fetch.ts';
import { knownAnchors } from './known-anchors.ts';

/** Answers of endpoints, fetched beside the queue: a slow one holds nobody up. */
export interface Looks {
  /** Asks, unless that is under way; `onAnswer` is called once the answer is there. */
  readonly begin: (domain: ForeignDomain) => void;
  /** The answer of a trust domain, once. */
  readonly take: (trustDomain: string) => Fetched | undefined;
  readonly isUnderWay: (trustDomain: string) => boolean;
  /** Resolves when nobody is asked any more. */
  readonly ended: () => Promise<unknown>;
}

/** At most one call a trust domain at a time. */
export function createLooks(init: {
  /** Where an administrator's files are. */
  readonly directory: string;
  /** PEM of a trust domain's bundle as it was taken last. */
  readonly latest: (trustDomain: string) => string | undefined;
  readonly guard: ConnectGuard;
  readonly signal: AbortSignal;
  readonly onAnswer: (trustDomain: string) => void;
}): Looks {
  const { directory, latest, guard, signal, onAnswer } = init;
  const underWay = new Map<string, Promise<void>>();
  const answers = new Map<string, Fetched>();

  async function look(domain: ForeignDomain): Promise<void> {
    const known = await knownAnchors(domain, directory, latest);
    const answer =
      'problem' in known ? known : await fetchBundle(domain, known.anchors, { guard, signal });
    underWay.delete(domain.trustDomain);
    if (signal.aborted) return;
    answers.set(domain.trustDomain, answer);
    onAnswer(domain.trustDomain);
  }

  return {
    begin: (domain) => {
      const { trustDomain } = domain;
      if (!underWay.has(trustDomain) && !answers.has(trustDomain))
        underWay.set(trustDomain, look(domain));
    },
    take: (trustDomain) => {
      const answer = answers.get(trustDomain);
      answers.delete(trustDomain);
      return answer;
    },
    isUnderWay: (trustDomain) => underWay.has(trustDomain),
    ended: () => Promise.all(underWay.values()),
  };
}
