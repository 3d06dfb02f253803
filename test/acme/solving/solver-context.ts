// SPDX-License-Identifier: Apache-2.0
import { CALL_LIMITS, createExchange, type Exchange } from '#base/egress/exchange.ts';
import { createDnsClient } from '#acme/solving/dns/client.ts';
import type { ChallengeToSolve, SolverContext } from '#acme/solving/solver.ts';
import { SignerError } from '#base/errors.ts';

/** What a solver is made from, without an API server. `secrets` are texts by `name/key`. */
export function contextWith(
  http: Exchange,
  resolvers: readonly string[],
  secrets: Readonly<Record<string, string>>,
): SolverContext {
  const client = {
    request: () => Promise.reject(new Error('no API server')),
    stream: () => Promise.reject(new Error('no API server')),
    clockOffset: () => 0,
    close: () => Promise.resolve(),
  };
  return {
    client,
    clock: Date.now,
    delay: () => Promise.resolve(),
    ownNamespace: 'countersign',
    credentialNamespace: 'countersign-dns',
    http,
    resolvers,
    ask: createDnsClient(http),
    askNamed: createDnsClient(http),
    credential: (secret, key) => {
      const text = secrets[`${secret}/${key}`];
      if (text !== undefined) return Promise.resolve(Buffer.from(text));
      const message = `no key ${key} in the Secret ${secret}`;
      return Promise.reject(
        new SignerError({ code: 'KUBE_NOT_FOUND', disposition: 'retry', message }),
      );
    },
  };
}

export function openHttp(): Exchange {
  return createExchange({ userAgent: 'countersign-test', limits: CALL_LIMITS, proxy: undefined });
}

export function challengeFor(dnsName: string, key: string, wildcard = false): ChallengeToSolve {
  const token = 'token';
  return { namespace: 'team', name: `c-${key}`, uid: key, dnsName, wildcard, token, key };
}
