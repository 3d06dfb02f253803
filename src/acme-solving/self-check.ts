// SPDX-License-Identifier: Apache-2.0
import type { CallLimits, Exchange } from '../acme/exchange.ts';
import { parseDuration } from '../api/object/duration.ts';
import { attempt, SignerError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { DNS_PORT } from './dns/address.ts';
import { createDnsClient, type AskDns } from './dns/client.ts';
import { canonicalName } from './dns/message.ts';
import { checkDns, resolveBy, type DnsCheckInit, type DnsProof } from './dns01/check-dns.ts';
import { endOf, extendPath } from './dns01/delegation.ts';
import type { PersistentProof } from './dns01/persist.ts';
import type { SolverGrant } from './http/grants.ts';
import { nameserversRefusal } from './namespaced.ts';
import { checkHttp01, type Http01CheckInit } from './http/self-check.ts';

/** A Challenge that was presented. */
export interface ToCheck {
  readonly type: 'http-01' | 'dns-01' | 'dns-persist-01';
  /** A name without `*.`, or for http-01 an address. */
  readonly dnsName: string;
  readonly wildcard: boolean;
  /** Absent for dns-persist-01. */
  readonly token?: string | undefined;
  /** Content of the file (http-01), or value of the TXT record (dns-01). */
  readonly key?: string | undefined;
  /** Milliseconds since 1970. */
  readonly presentedAt: number;
  /** For dns-persist-01: the account, and how the CA calls itself. */
  readonly persist?: PersistentProof | undefined;
  /** Whether its signer is a namespace's: then a guard judges what is asked in its name. */
  readonly namespaced?: boolean | undefined;
  /** `selfCheck` of its solver. */
  readonly settings?:
    | {
        readonly nameservers?: readonly string[] | undefined;
        readonly waitInstead?: string | undefined;
      }
    | undefined;
}

/** What the check needs of the outside world. */
export interface SelfCheckInit {
  /** For resolvers over HTTPS, with {@link CHECK_LIMITS}. */
  readonly http: Exchange;
  /** host:port or https:// URLs of resolvers: what finds addresses, and the servers of a zone. */
  readonly resolvers: readonly string[];
  readonly now: Clock;
  /** Which networks http-01 may ask, and at which ports. */
  readonly http01: Pick<Http01CheckInit, 'allowed' | 'ports'>;
  /** For the resolvers that AcmeSigners name: how they are asked, and which. */
  readonly named?: { readonly ask: AskDns; readonly grants: readonly SolverGrant[] };
  /** Where authoritative servers listen, for tests; 53 if left out. */
  readonly authoritativePort?: number;
}

/**
 * Looks whether a Challenge is to be seen before the ACME server is told.
 *
 * @returns undefined where it passed; else one sentence without an end, for `afterSelfCheck`
 */
export type SelfCheck = (challenge: ToCheck, signal: AbortSignal) => Promise<string | undefined>;

/** Answers of DNS have 64 KiB at most (RFC 8484 §6). */
export const CHECK_LIMITS: CallLimits = {
  connectMs: 5_000,
  silenceMs: 5_000,
  totalMs: 10_000,
  maxBytes: 65_536,
};

export function createSelfCheck(init: SelfCheckInit): SelfCheck {
  const { http, resolvers, now, http01, authoritativePort = DNS_PORT } = init;
  const ask = createDnsClient(http);
  return async (challenge, signal) => {
    const { type, dnsName, token = '', key = '' } = challenge;
    const { presentedAt, settings } = challenge;
    if (settings?.waitInstead !== undefined)
      return waitInstead(settings.waitInstead, presentedAt, now());
    if (type === 'http-01') {
      const resolve = (name: string): Promise<readonly string[]> =>
        addressesOf({ ask, resolvers, signal }, name);
      return checkHttp01({ dnsName, token, key }, { ...http01, resolve, signal });
    }
    const how = { ask, resolvers, now, authoritativePort };
    return checkByDns({ ...challenge, type }, { ...init, how }, signal);
  };
}

async function checkByDns(
  challenge: ToCheck & Pick<DnsProof, 'type'>,
  { how, named }: Pick<SelfCheckInit, 'named'> & { readonly how: DnsCheckInit },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { type, dnsName, wildcard, key: value = '', persist, presentedAt } = challenge;
  const proof = { type, dnsName, wildcard, value, persist, presentedAt };
  const { nameservers = [] } = challenge.settings ?? {};
  if (challenge.namespaced !== true || nameservers.length === 0)
    return checkDns(how, proof, nameservers, signal);
  const { ask, grants } = named ?? { ask: how.ask, grants: [] };
  const refusal = nameserversRefusal(nameservers, grants);
  return refusal ?? checkDns({ ...how, ask }, proof, nameservers, signal);
}

/** @param wait - a duration of hours, minutes and seconds */
function waitInstead(wait: string, presentedAt: number, now: number): string | undefined {
  const seconds = attempt(() => parseDuration(wait));
  if (seconds instanceof SignerError) return seconds.message;
  const until = presentedAt + 1000 * seconds;
  if (now >= until) return undefined;
  return `waits ${wait} instead of a check, until ${new Date(until).toISOString()}`;
}

/** @throws Error with the resolver's words where none answers */
async function addressesOf(
  by: { readonly ask: AskDns; readonly resolvers: readonly string[]; readonly signal: AbortSignal },
  name: string,
): Promise<readonly string[]> {
  const resolve = resolveBy(by.ask, by.resolvers, by.signal);
  const types = ['A', 'AAAA'] as const;
  const answers = await Promise.all(types.map((type) => resolve(name, type)));
  return answers.flatMap((answer, index) => {
    if (answer.kind === 'none') throw new Error(answer.problem);
    const path = extendPath([canonicalName(name)], answer.answers);
    const end = path === undefined ? name : endOf(path);
    return answer.answers
      .filter((record) => record.type === types[index] && record.name === end)
      .map(({ value }) => value);
  });
}
