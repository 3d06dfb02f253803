// SPDX-License-Identifier: Apache-2.0
import { refusalOf, type Network } from '#base/egress/networks.ts';
import { parseIp } from '#base/ip.ts';
import type { Clock } from '#base/ports.ts';
import { formatDnsAddress } from '../dns/address.ts';
import type { AskDns } from '../dns/client.ts';
import type { NoDnsAnswer } from '../dns/message.ts';
import {
  endOf,
  findServers,
  findZone,
  followCnames,
  nameForPeople,
  type Delegation,
  type Resolve,
  type ZoneServer,
  type ZoneServers,
} from './delegation.ts';
import {
  PERSIST_LABEL,
  persistentRecord,
  provesPersistently,
  type PersistentProof,
} from './persist.ts';
import { pathForPeople, missingAnswers, type ServerAnswer } from './propagation.ts';
import * as messages from '../messages.ts';

/** A proof by a TXT record. */
export interface DnsProof {
  readonly type: 'dns-01' | 'dns-persist-01';
  /** Name without `*.`. */
  readonly dnsName: string;
  readonly wildcard: boolean;
  /** Value of a dns-01 record. */
  readonly value: string;
  /** Contents of a dns-persist-01 record. */
  readonly persist?: PersistentProof | undefined;
  /** Time of the presentation in milliseconds since 1970. */
  readonly presentedAt: number;
}

/** Servers to query, and the clients for them. */
export interface DnsCheckInit {
  /** Queries resolvers, which an administrator names. */
  readonly ask: AskDns;
  /**
   * Queries authoritative servers. The owner of a zone names them, so a guard checks the
   * connections.
   */
  readonly askServer: AskDns;
  /** Networks outside the Internet whose authoritative servers the check may query. */
  readonly allowed: readonly Network[];
  /**
   * host:port or https:// URLs of resolvers, which find the servers of a zone. The first one that
   * answers counts.
   */
  readonly resolvers: readonly string[];
  readonly now: Clock;
  /** Port of authoritative servers: 53 except in tests. */
  readonly authoritativePort: number;
}

/** Label before a name (RFC 8555 §8.4). */
const CHALLENGE_LABEL = '_acme-challenge';
/** Time to wait for silent servers. */
const SILENT_MS = 60_000;
/** Time limit of the whole check, because its caller has other work. */
const CHECK_MS = 20_000;

/** Response codes of a valid answer. A missing name is a valid answer, too. */
const ANSWERED: readonly string[] = ['NOERROR', 'NXDOMAIN'];

/** Returns the name of the TXT record that proves a name. */
export function recordName({ type, dnsName }: Pick<DnsProof, 'type' | 'dnsName'>): string {
  return `${type === 'dns-01' ? CHALLENGE_LABEL : PERSIST_LABEL}.${dnsName}`;
}

/** Queries each of `resolvers` until one answers. */
export function resolveBy(ask: AskDns, resolvers: readonly string[], signal: AbortSignal): Resolve {
  return async (name, type) => {
    let last: NoDnsAnswer = { kind: 'none', problem: messages.NO_RESOLVER };
    for (const resolver of resolvers) {
      const answer = await ask(resolver, { name, type, recursive: true }, signal);
      const { kind } = answer;
      if (kind === 'answer' && ANSWERED.includes(answer.rcode)) return answer;
      const says = kind === 'none' ? answer.problem : messages.answeredRcode(answer.rcode);
      last = { kind: 'none', problem: messages.resolverFault(resolver, says) };
    }
    return last;
  };
}

/**
 * Checks that the CA will see the record: on the authoritative servers of its zone, or on the
 * resolvers that the signer names.
 *
 * @param nameservers - resolvers to query instead of the authoritative servers
 * @returns undefined if it is visible, or the sentence that names the servers without it
 */
export async function checkDns(
  init: DnsCheckInit,
  proof: DnsProof,
  nameservers: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(CHECK_MS)]);
  const missing =
    nameservers.length > 0
      ? await checkByResolvers(init, proof, nameservers, bounded)
      : await checkByServers(init, proof, bounded);
  return missing === undefined ? undefined : withRecord(missing, proof);
}

/** Adds the record to write, because only its owner can write a dns-persist-01 record. */
function withRecord(missing: string, { type, dnsName, wildcard, persist }: DnsProof): string {
  if (type !== 'dns-persist-01' || persist === undefined) return missing;
  return messages.withRecord(missing, persistentRecord(dnsName, wildcard, persist));
}

async function checkByResolvers(
  { ask, now }: DnsCheckInit,
  proof: DnsProof,
  nameservers: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = recordName(proof);
  const asked = await Promise.all(
    nameservers.map(async (server): Promise<ServerAnswer> => {
      return { server, answer: await ask(server, { name, type: 'TXT', recursive: true }, signal) };
    }),
  );
  return missingAnswers(asked, {
    place: { path: [name] },
    whose: messages.OF_THE_SOLVER,
    authoritative: false,
    ...whatIsWanted(proof, now()),
  });
}

async function checkByServers(
  init: DnsCheckInit,
  proof: DnsProof,
  signal: AbortSignal,
): Promise<string | undefined> {
  const resolve = resolveBy(init.ask, init.resolvers, signal);
  const place = await findPlace(resolve, recordName(proof));
  if (place.kind === 'none') return place.problem;
  const missing = await checkPlace(init, proof, place, { resolve, signal });
  const { ofWildcard } = place;
  if (missing === undefined || ofWildcard === undefined) return missing;
  // A record at the target serves as well: the CA follows the CNAME until the name has a record.
  const target = await findZoneOf(resolve, { path: ofWildcard });
  if (target.kind === 'none') return missing;
  const elsewhere = await checkPlace(init, proof, target, { resolve, signal });
  return elsewhere === undefined ? undefined : missing;
}

async function checkPlace(
  init: DnsCheckInit,
  proof: DnsProof,
  place: RecordPlace,
  { resolve, signal }: { readonly resolve: Resolve; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { now, authoritativePort: port } = init;
  const { path, zone } = place;
  const found = await findServers(resolve, zone);
  const whose = zoneForPeople(place);
  if (found.kind === 'none') return messages.serversNotFound(whose, found.problem);
  const { servers, notAsked } = withoutRefused(found, init.allowed);
  const question = { name: endOf(path), type: 'TXT', recursive: false } as const;
  const own = path.length === 1;
  const asked = await Promise.all(
    servers.map(async (server): Promise<ServerAnswer> => {
      const address = formatDnsAddress({ host: server.address, port });
      const answer = await init.askServer(address, question, signal);
      if (own || isOfTheInternet(server.address))
        return { server: `${nameForPeople(server.name)} (${server.address})`, answer };
      const withoutAddress = { kind: 'none', problem: messages.CANNOT_BE_QUERIED } as const;
      return {
        server: messages.A_SERVER,
        answer: answer.kind === 'none' ? withoutAddress : answer,
      };
    }),
  );
  const silent = notAsked.map((name): ServerAnswer => {
    const server = own ? nameForPeople(name) : messages.A_SERVER;
    return { server, answer: { kind: 'none', problem: messages.NO_ALLOWED_ADDRESS } };
  });
  const missing = missingAnswers([...asked, ...silent], {
    place,
    whose,
    authoritative: true,
    ...whatIsWanted(proof, now()),
  });
  return missing === undefined || silent.length === 0
    ? missing
    : messages.withNetworkAdvice(missing);
}

function isOfTheInternet(address: string): boolean {
  const octets = parseIp(address);
  return octets !== undefined && refusalOf(octets, []) === undefined;
}

/** Returns the servers that may be queried, and the names of those without such an address. */
function withoutRefused(
  { servers, withoutAddress }: ZoneServers,
  allowed: readonly Network[],
): { readonly servers: readonly ZoneServer[]; readonly notAsked: readonly string[] } {
  const asked = servers.filter(({ address }) => {
    const octets = parseIp(address);
    return octets !== undefined && refusalOf(octets, allowed) === undefined;
  });
  const names = new Set(asked.map(({ name }) => name));
  const refused = servers.map(({ name }) => name).filter((name) => !names.has(name));
  return { servers: asked, notAsked: [...new Set([...refused, ...withoutAddress])].sort() };
}

/**
 * Returns the zone of a record for a message. Behind two CNAMEs the requester did not write the
 * name, so the message omits it.
 */
function zoneForPeople({ path, zone }: RecordPlace): string {
  return path.length > 2 ? messages.OF_ITS_ZONE : messages.ofZone(nameForPeople(zone));
}

/** Zone and path of a record. */
export interface RecordPlace extends Pick<Delegation, 'path' | 'ofWildcard'> {
  readonly kind: 'place';
  readonly zone: string;
}

/** Follows CNAMEs from a name and finds the zone at their end. */
export async function findPlace(
  resolve: Resolve,
  name: string,
): Promise<RecordPlace | NoDnsAnswer> {
  const delegation = await followCnames(resolve, name);
  return delegation.kind === 'none' ? where(delegation, name) : findZoneOf(resolve, delegation);
}

async function findZoneOf(
  resolve: Resolve,
  { path, ofWildcard }: Pick<Delegation, 'path' | 'ofWildcard'>,
): Promise<RecordPlace | NoDnsAnswer> {
  const found = await findZone((candidate) => resolve(candidate, 'SOA'), endOf(path));
  return found.kind === 'none'
    ? where(found, pathForPeople({ path, ofWildcard }))
    : { kind: 'place', path, ofWildcard, zone: found.zone };
}

function where({ problem }: NoDnsAnswer, name: string): NoDnsAnswer {
  return { kind: 'none', problem: messages.zoneNotFound(name, problem) };
}

function whatIsWanted(
  { type, value, wildcard, persist, presentedAt }: DnsProof,
  now: number,
): { isThere: (values: readonly string[]) => boolean; waitsForSilent: boolean } {
  return {
    isThere: (values) =>
      type === 'dns-01'
        ? values.includes(value)
        : persist !== undefined && provesPersistently(values, wildcard, persist, now),
    waitsForSilent: now - presentedAt < SILENT_MS,
  };
}
