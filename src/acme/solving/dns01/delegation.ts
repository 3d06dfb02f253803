// SPDX-License-Identifier: Apache-2.0
/** Place of a challenge's record: its CNAMEs, its zone, and its servers. */
import { randomBytes } from 'node:crypto';
import { quote } from '#base/quote.ts';
import {
  canonicalName,
  isDnsName,
  isWithin,
  type DnsAnswer,
  type DnsRecord,
  type NoDnsAnswer,
  type RecordType,
} from '../dns/message.ts';
import * as messages from '../messages.ts';

/** Queries the resolvers. */
export type Resolve = (name: string, type: RecordType) => Promise<DnsAnswer | NoDnsAnswer>;

/** CNAMEs of a name. */
export interface Delegation {
  readonly kind: 'delegation';
  /** The name itself, then the target of each CNAME. */
  readonly path: readonly [string, ...string[]];
  /**
   * Path that the CNAME of a wildcard makes from the name until it has a record of its own. `path`
   * is then the name alone.
   */
  readonly ofWildcard?: readonly [string, ...string[]] | undefined;
}

/** One server of a zone. */
export interface ZoneServer {
  readonly name: string;
  readonly address: string;
}

/** Servers of a zone, and those without an address. */
export interface ZoneServers {
  readonly kind: 'servers';
  readonly servers: readonly ZoneServer[];
  readonly withoutAddress: readonly string[];
}

/**
 * Limit on CNAMEs. A delegation has one, more than a few are a mistake, and an endless chain must
 * end.
 */
const MAX_LINKS = 8;
/** Octets of a sibling's label, in hexadecimal shorter than `_acme-challenge`. */
const SIBLING_OCTETS = 7;
/** Limit on servers. The root has as many. */
const MAX_SERVERS = 13;
const ADDRESSES_OF_A_SERVER = 4;
/** Limit on parent names to query for a zone. */
const MAX_PARENTS = 16;

/**
 * Follows CNAMEs, as RFC 8555 §8.4 allows a server to, at most eight. A CNAME that a random sibling
 * of the name has, too, comes from a wildcard and delegates nothing: any record at the name itself
 * ends it (RFC 4592 §2.2).
 *
 * @param sibling - a label that no zone has
 */
export async function followCnames(
  resolve: Resolve,
  name: string,
  sibling = randomBytes(SIBLING_OCTETS).toString('hex'),
): Promise<Delegation | NoDnsAnswer> {
  const followed = await followAll(resolve, name);
  if (followed.kind === 'none') return followed;
  const { path } = followed;
  const [own, target] = path;
  if (target === undefined) return followed;
  const other = [sibling, ...own.split('.').slice(1)].join('.');
  const answer = await resolve(other, 'TXT');
  const ofWildcard =
    answer.kind === 'answer' &&
    answer.answers.some((each) => isLink(each, other) && each.value === target);
  return ofWildcard ? { kind: 'delegation', path: [own], ofWildcard: path } : followed;
}

async function followAll(resolve: Resolve, name: string): Promise<Delegation | NoDnsAnswer> {
  let path: Delegation['path'] = [canonicalName(name)];
  for (;;) {
    const answer = await resolve(endOf(path), 'TXT');
    if (answer.kind === 'none') return answer;
    const longer = extendPath(path, answer.answers);
    if (longer === undefined) {
      const first = nameForPeople(path[0]);
      return none(messages.cnameLoop(first, MAX_LINKS));
    }
    if (longer.length === path.length) return { kind: 'delegation', path };
    path = longer;
  }
}

/** Extends `path` by the CNAMEs of `records`. Returns undefined if they are too many. */
export function extendPath(
  path: Delegation['path'],
  records: readonly DnsRecord[],
): Delegation['path'] | undefined {
  const end = endOf(path);
  const link = records.find((each) => isLink(each, end));
  if (link === undefined) return path;
  if (path.length > MAX_LINKS || path.includes(link.value)) return undefined;
  return extendPath([...path, link.value], records);
}

function isLink({ name, type }: DnsRecord, from: string): boolean {
  return name === from && type === 'CNAME';
}

/** Returns the last name of a path. */
export function endOf(path: Delegation['path']): string {
  return path.at(-1) ?? path[0];
}

/**
 * Returns a name for a message, quoted if necessary: its owner chose it, and DNS allows any octet.
 */
export function nameForPeople(name: string): string {
  return isDnsName(name) ? name : quote(name);
}

/** Finds the zone of a name by the SOA record above it (RFC 2308 §3, RFC 1034 §4.2.1). */
export async function findZone(
  ask: (name: string) => Promise<DnsAnswer | NoDnsAnswer>,
  name: string,
): Promise<{ readonly kind: 'zone'; readonly zone: string } | NoDnsAnswer> {
  const labels = canonicalName(name).split('.');
  for (let above = 0; above < Math.min(labels.length, MAX_PARENTS); above += 1) {
    const candidate = labels.slice(above).join('.');
    const answer = await ask(candidate);
    if (answer.kind === 'none') return answer;
    const zone = [...answer.answers, ...answer.authority].find(
      (record) => record.type === 'SOA' && record.name !== '' && isWithin(candidate, record.name),
    );
    if (zone !== undefined) return { kind: 'zone', zone: zone.name };
    if (answer.rcode !== 'NOERROR' && answer.rcode !== 'NXDOMAIN')
      return none(messages.zoneQueryAnswer(answer.rcode));
  }
  return none(messages.NO_ZONE);
}

/**
 * Finds the authoritative servers of a zone, at most thirteen. Uses IPv6 only for a server without
 * an IPv4 address.
 */
export async function findServers(
  resolve: Resolve,
  zone: string,
): Promise<ZoneServers | NoDnsAnswer> {
  const answer = await resolve(zone, 'NS');
  if (answer.kind === 'none') return answer;
  // Sort the names, because servers change their order. A changed message would cause a write,
  // which wakes its writer.
  const all = answer.answers.filter(({ type }) => type === 'NS').map(({ value }) => value);
  const names = [...new Set(all)].sort();
  if (names.length === 0) return none(messages.NO_NS_RECORDS);
  const found = await Promise.all(
    names.slice(0, MAX_SERVERS).map(async (name) => ({
      name,
      addresses: await addressesOf(resolve, name),
    })),
  );
  return {
    kind: 'servers',
    servers: found.flatMap(({ name, addresses }) =>
      addresses.map((address) => ({ name, address })),
    ),
    withoutAddress: found.filter(({ addresses }) => addresses.length === 0).map(({ name }) => name),
  };
}

async function addressesOf(resolve: Resolve, name: string): Promise<readonly string[]> {
  for (const type of ['A', 'AAAA'] as const) {
    const answer = await resolve(name, type);
    if (answer.kind === 'none') continue;
    const records = answer.answers.filter((record) => record.type === type);
    const addresses = records.map(({ value }) => value).sort();
    if (addresses.length > 0) return addresses.slice(0, ADDRESSES_OF_A_SERVER);
  }
  return [];
}

function none(problem: string): NoDnsAnswer {
  return { kind: 'none', problem };
}
