// SPDX-License-Identifier: Apache-2.0
import type { CallLimits, Exchange } from '#base/egress/exchange.ts';
import { parseDuration } from '#api/object/duration.ts';
import { connectGuard } from '#base/egress/connect-guard.ts';
import type { Network } from '#base/egress/networks.ts';
import { attempt, SignerError } from '#base/errors.ts';
import type { Clock } from '#base/ports.ts';
import { DNS_PORT } from './dns/address.ts';
import { createDnsClient, type AskDns } from './dns/client.ts';
import { canonicalName } from './dns/message.ts';
import { checkDns, resolveBy, type DnsCheckInit, type DnsProof } from './dns01/check-dns.ts';
import { endOf, extendPath } from './dns01/delegation.ts';
import type { PersistentProof } from './dns01/persist.ts';
import type { SolverGrant } from './http/grants.ts';
import { nameserversRefusal } from './namespaced.ts';
import { checkHttp01, type Http01CheckInit } from './http/self-check.ts';
import { createUnreachableAddresses } from './http/unreachable-addresses.ts';
import * as messages from './messages.ts';

/** A presented Challenge. */
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
  /** Account and the CA's names in CAA records, for dns-persist-01. */
  readonly persist?: PersistentProof | undefined;
  /** Whether the signer belongs to a namespace, so that a guard checks its connections. */
  readonly namespaced?: boolean | undefined;
  /** `selfCheck` of its solver. */
  readonly settings?:
    | {
        readonly nameservers?: readonly string[] | undefined;
        readonly waitInstead?: string | undefined;
      }
    | undefined;
}

/** Connections and settings of the check. */
export interface SelfCheckInit {
  /** Client for resolvers over HTTPS, with {@link CHECK_LIMITS}. */
  readonly http: Exchange;
  /** Queries resolvers, for tests. */
  readonly ask?: AskDns;
  /** host:port or https:// URLs of resolvers. They find addresses, and the servers of a zone. */
  readonly resolvers: readonly string[];
  readonly now: Clock;
  /**
   * Networks outside the Internet that the check may call. The requester's DNS and redirects name
   * the servers that it calls.
   */
  readonly allowed: readonly Network[];
  /** Ports of http-01, for a CA that validates on others. */
  readonly http01Ports?: Http01CheckInit['ports'];
  /** Client for the resolvers that AcmeSigners name, and their grants. */
  readonly named?: { readonly ask: AskDns; readonly grants: readonly SolverGrant[] };
  /** Port of authoritative servers, for tests. Default: 53. */
  readonly authoritativePort?: number;
}

/**
 * Checks that a Challenge is visible before the ACME server is notified.
 *
 * @returns undefined if it passed. Otherwise one sentence without a full stop, for `afterSelfCheck`
 */
export type SelfCheck = (challenge: ToCheck, signal: AbortSignal) => Promise<string | undefined>;

/** Limits of a call. DNS answers have at most 64 KiB (RFC 8484 §6). */
export const CHECK_LIMITS: CallLimits = {
  connectMs: 5_000,
  silenceMs: 5_000,
  totalMs: 10_000,
  maxBytes: 65_536,
};

/** Creates the check. It reads DNS and HTTP as an ACME server does, and writes nothing. */
export function createSelfCheck(init: SelfCheckInit): SelfCheck {
  const { http, resolvers, now, allowed, http01Ports, authoritativePort = DNS_PORT } = init;
  const { ask = createDnsClient(http) } = init;
  const askServer = createDnsClient(http, connectGuard(allowed, messages.OF_THE_SELF_CHECK));
  const ports = http01Ports === undefined ? {} : { ports: http01Ports };
  const unreachable = createUnreachableAddresses(now);
  return async (challenge, signal) => {
    const { type, dnsName, token = '', key = '' } = challenge;
    const { presentedAt, settings } = challenge;
    if (settings?.waitInstead !== undefined)
      return waitInstead(settings.waitInstead, presentedAt, now());
    if (type === 'http-01') {
      const resolve = (name: string): Promise<readonly string[]> =>
        addressesOf({ ask, resolvers, signal }, name);
      return checkHttp01(
        { dnsName, token, key },
        { allowed, ...ports, resolve, signal, unreachable },
      );
    }
    const how = { ask, askServer, allowed, resolvers, now, authoritativePort };
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

/** @param wait - a duration of hours, minutes, and seconds */
function waitInstead(wait: string, presentedAt: number, now: number): string | undefined {
  const seconds = attempt(() => parseDuration(wait));
  if (seconds instanceof SignerError) return seconds.message;
  const until = presentedAt + 1000 * seconds;
  if (now >= until) return undefined;
  return messages.waitsInstead(wait, new Date(until).toISOString());
}

/**
 * Returns the addresses of both families. A family without an answer is skipped if the other
 * one has an address, as CAs do: some servers answer SERVFAIL for AAAA.
 *
 * @throws Error with the record type and the resolver's message
 */
async function addressesOf(
  by: { readonly ask: AskDns; readonly resolvers: readonly string[]; readonly signal: AbortSignal },
  name: string,
): Promise<readonly string[]> {
  const resolve = resolveBy(by.ask, by.resolvers, by.signal);
  const types = ['A', 'AAAA'] as const;
  const answers = await Promise.all(types.map((type) => resolve(name, type)));
  const faults: string[] = [];
  const addresses = answers.flatMap((answer, index) => {
    const type = types[index] ?? 'A';
    if (answer.kind === 'none') {
      faults.push(messages.typeNotResolved(type, answer.problem));
      return [];
    }
    const path = extendPath([canonicalName(name)], answer.answers);
    const end = path === undefined ? name : endOf(path);
    return answer.answers
      .filter((record) => record.type === type && record.name === end)
      .map(({ value }) => value);
  });
  if (addresses.length === 0 && faults.length > 0) throw new Error(faults.join('; '));
  return addresses;
}
