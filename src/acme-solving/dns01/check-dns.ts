// SPDX-License-Identifier: Apache-2.0
import type { Clock } from '../../ports.ts';
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
} from './delegation.ts';
import {
  PERSIST_LABEL,
  persistentRecord,
  provesPersistently,
  type PersistentProof,
} from './persist.ts';
import { pathForPeople, whatIsMissing, type Asked } from './propagation.ts';

/** A proof by a TXT record. */
export interface DnsProof {
  readonly type: 'dns-01' | 'dns-persist-01';
  /** Without `*.`. */
  readonly dnsName: string;
  readonly wildcard: boolean;
  /** The value of a record of dns-01. */
  readonly value: string;
  /** What a record of dns-persist-01 is to say. */
  readonly persist?: PersistentProof | undefined;
  /** Since when it is there. Milliseconds since 1970. */
  readonly presentedAt: number;
}

/** Who is asked, and how. */
export interface DnsCheckInit {
  readonly ask: AskDns;
  /** host:port or https:// URLs: what finds the servers of a zone. Each is asked until one answers. */
  readonly resolvers: readonly string[];
  readonly now: Clock;
  /** Where authoritative servers listen: 53 everywhere but in tests. */
  readonly authoritativePort: number;
}

/** The label that is put before a name (RFC 8555 §8.4). */
const CHALLENGE_LABEL = '_acme-challenge';
/** How long servers that do not answer are waited for. */
const SILENT_MS = 60_000;
/** The whole check: its caller has others to do. */
const CHECK_MS = 20_000;

/** A name that there is not is an answer, too. */
const ANSWERED: readonly string[] = ['NOERROR', 'NXDOMAIN'];

/** Name of the TXT record that proves a name. */
export function recordName({ type, dnsName }: Pick<DnsProof, 'type' | 'dnsName'>): string {
  return `${type === 'dns-01' ? CHALLENGE_LABEL : PERSIST_LABEL}.${dnsName}`;
}

/** Asks each of `resolvers` until one answers. */
export function resolveBy(ask: AskDns, resolvers: readonly string[], signal: AbortSignal): Resolve {
  return async (name, type) => {
    let last: NoDnsAnswer = { kind: 'none', problem: 'there is no resolver to ask' };
    for (const resolver of resolvers) {
      const answer = await ask(resolver, { name, type, recursive: true }, signal);
      const { kind } = answer;
      if (kind === 'answer' && ANSWERED.includes(answer.rcode)) return answer;
      const says = kind === 'none' ? answer.problem : `answers ${answer.rcode}`;
      last = { kind: 'none', problem: `the resolver ${resolver} ${says}` };
    }
    return last;
  };
}

/**
 * Whether the CA is going to see the record: the authoritative servers of its zone have it, or the resolvers that the
 * signer names.
 *
 * @param nameservers - resolvers to ask instead of the authoritative servers
 * @returns undefined where it is seen; else the sentence that says where it is not
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

/** Only its owner can write a record of dns-persist-01. */
function withRecord(missing: string, { type, dnsName, wildcard, persist }: DnsProof): string {
  if (type !== 'dns-persist-01' || persist === undefined) return missing;
  return `${missing}. Write this record: ${persistentRecord(dnsName, wildcard, persist)}`;
}

async function checkByResolvers(
  { ask, now }: DnsCheckInit,
  proof: DnsProof,
  nameservers: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = recordName(proof);
  const asked = await Promise.all(
    nameservers.map(async (server): Promise<Asked> => {
      return { server, answer: await ask(server, { name, type: 'TXT', recursive: true }, signal) };
    }),
  );
  return whatIsMissing(asked, {
    ...{ path: [name], whose: 'that the solver names', authoritative: false },
    ...whatIsWanted(proof, now()),
  });
}

async function checkByServers(
  init: DnsCheckInit,
  proof: DnsProof,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { ask, now, authoritativePort: port } = init;
  const resolve = resolveBy(ask, init.resolvers, signal);
  const place = await findPlace(resolve, recordName(proof));
  if (place.kind === 'none') return place.problem;
  const { path, zone } = place;
  const found = await findServers(resolve, zone);
  if (found.kind === 'none')
    return `the servers of ${nameForPeople(zone)} are not found: ${found.problem}`;
  const question = { name: endOf(path), type: 'TXT', recursive: false } as const;
  const asked = await Promise.all(
    found.servers.map(async ({ name, address }): Promise<Asked> => {
      const answer = await ask(formatDnsAddress({ host: address, port }), question, signal);
      return { server: `${nameForPeople(name)} (${address})`, answer };
    }),
  );
  const unknown = found.withoutAddress.map((name): Asked => {
    return { server: nameForPeople(name), answer: { kind: 'none', problem: 'has no address' } };
  });
  return whatIsMissing([...asked, ...unknown], {
    ...{ path, whose: `of ${nameForPeople(zone)}`, authoritative: true },
    ...whatIsWanted(proof, now()),
  });
}

/** Where a record is. */
export interface RecordPlace {
  readonly kind: 'place';
  readonly path: Delegation['path'];
  readonly zone: string;
}

/** Follows CNAMEs from a name and finds the zone at their end. */
export async function findPlace(
  resolve: Resolve,
  name: string,
): Promise<RecordPlace | NoDnsAnswer> {
  const delegation = await followCnames(resolve, name);
  if (delegation.kind === 'none') return where(delegation, name);
  const { path } = delegation;
  const found = await findZone((candidate) => resolve(candidate, 'SOA'), endOf(path));
  return found.kind === 'none'
    ? where(found, pathForPeople(path))
    : { kind: 'place', path, zone: found.zone };
}

function where({ problem }: NoDnsAnswer, name: string): NoDnsAnswer {
  return { kind: 'none', problem: `the zone of ${name} is not found: ${problem}` };
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
