// SPDX-License-Identifier: Apache-2.0
import type { ConnectGuard } from '#base/egress/connect-guard.ts';
import type { EgressProxy } from '#base/egress/egress-proxy.ts';
import type { ForeignDomain } from '../spiffe/foreign-domain.ts';
import { fetchBundle, type FetchResult } from './fetch.ts';
import { knownAnchors } from './known-anchors.ts';

/** Fetches bundles outside the work queue, so a slow endpoint delays no other. */
export interface BundleFetcher {
  /** Starts a fetch unless one is under way. Calls `onAnswer` when the answer has arrived. */
  readonly begin: (domain: ForeignDomain) => void;
  /** Returns the answer of a trust domain once, then forgets it. */
  readonly take: (trustDomain: string) => FetchResult | undefined;
  readonly isUnderWay: (trustDomain: string) => boolean;
  /** Resolves when no fetch is under way. */
  readonly ended: () => Promise<unknown>;
}

/** Runs at most one fetch per trust domain at a time. */
export function createBundleFetcher(init: {
  /** Directory with an administrator's files. */
  readonly directory: string;
  /** Returns the PEM of the latest accepted bundle of a trust domain. */
  readonly latest: (trustDomain: string) => string | undefined;
  readonly guard: ConnectGuard;
  readonly proxy: EgressProxy | undefined;
  readonly signal: AbortSignal;
  readonly onAnswer: (trustDomain: string) => void;
}): BundleFetcher {
  const { directory, latest, guard, proxy, signal, onAnswer } = init;
  const underWay = new Map<string, Promise<void>>();
  const answers = new Map<string, FetchResult>();

  async function look(domain: ForeignDomain): Promise<void> {
    const known = await knownAnchors(domain, directory, latest);
    const answer =
      'problem' in known
        ? known
        : await fetchBundle(domain, known.anchors, { guard, proxy, signal });
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
