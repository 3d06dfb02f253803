// SPDX-License-Identifier: Apache-2.0
/**
 * The record of dns-persist-01 (draft-ietf-acme-dns-persist). Its owner writes it once. This file
 * prints and verifies it.
 */

import type { AcmeSolver } from '#api/acme/acme-signer.ts';
import * as messages from '../messages.ts';

/** Contents of the record. */
export interface PersistentProof {
  /** URL of the account that may use it. */
  readonly accountUrl: string;
  /** Names of the CA in DNS (RFC 8555 §7.1.1, caaIdentities). Empty if the directory has none. */
  readonly issuers: readonly string[];
}

/** Label before a name. */
export const PERSIST_LABEL = '_validation-persist';

/** A parameter of an issue-value (RFC 8659 §4.2): printable, without blanks and semicolons. */
const VALUE = /^[\x21-\x3a\x3c-\x7e]*$/;
const TAG = /^[A-Za-z0-9-]+$/;

/**
 * Returns the record as a line of a zone file.
 *
 * @param name - without `*.`
 * @param wildcard - whether the proof is for `*.` and everything below, too
 */
export function persistentRecord(
  name: string,
  wildcard: boolean,
  { accountUrl, issuers }: PersistentProof,
): string {
  const issuer = issuers[0] ?? messages.CA_NAME;
  const policy = wildcard ? '; policy=wildcard' : '';
  return `${PERSIST_LABEL}.${name}. IN TXT "${issuer}; accounturi=${accountUrl}${policy}"`;
}

/** Limit of a signer's status. */
const MAX_SHOWN = 64;
const MAX_SHOWN_LENGTH = 2048;

/**
 * Returns the records that the solvers of a signer wait for. These are the names and zones of their
 * selectors, with `policy=wildcard` for a zone. A solver for every name gets `<name>`.
 */
export function persistentRecords(
  solvers: readonly AcmeSolver[],
  proof: PersistentProof,
): readonly string[] {
  const wildcards = new Map<string, boolean>();
  for (const { persist, selector = {} } of solvers) {
    if (persist === undefined) continue;
    const { dnsNames = [], dnsZones = [] } = selector;
    const all = [...dnsNames, ...dnsZones.map((zone) => `*.${zone}`)];
    for (const each of all.length === 0 ? ['<name>'] : all) {
      const name = each.replace(/^\*\./, '');
      wildcards.set(name, each !== name || wildcards.get(name) === true);
    }
  }
  return [...wildcards]
    .map(([name, wildcard]) => persistentRecord(name, wildcard, proof))
    .filter((record) => record.length <= MAX_SHOWN_LENGTH)
    .slice(0, MAX_SHOWN);
}

/**
 * Reports whether one of the values proves a name for the account.
 *
 * @param now - milliseconds since 1970
 */
export function provesPersistently(
  values: readonly string[],
  wildcard: boolean,
  { accountUrl, issuers }: PersistentProof,
  now: number,
): boolean {
  return values.some((value) => {
    const read = readIssueValue(value);
    if (read === undefined || (issuers.length > 0 && !issuers.includes(read.issuer))) return false;
    const { accounturi, policy, persistuntil } = read.parameters;
    if (accounturi !== accountUrl) return false;
    if (wildcard && policy?.toLowerCase() !== 'wildcard') return false;
    return (
      persistuntil === undefined ||
      (/^[0-9]{1,15}$/.test(persistuntil) && now <= 1000 * Number(persistuntil))
    );
  });
}

/**
 * Reads an issue-value, with tags in lower case because their case does not matter. Returns
 * undefined if it is malformed.
 */
function readIssueValue(
  text: string,
):
  | { readonly issuer: string; readonly parameters: Readonly<Record<string, string | undefined>> }
  | undefined {
  const [issuer = '', ...rest] = text
    .split(';')
    .map((part) => part.replace(/^[ \t]+|[ \t]+$/g, ''));
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const at = part.indexOf('=');
    const tag = part.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const value = part.slice(at + 1).trim();
    if (!TAG.test(tag) || !VALUE.test(value) || parameters.has(tag)) return undefined;
    parameters.set(tag, value);
  }
  return issuer === '' ? undefined : { issuer, parameters: Object.fromEntries(parameters) };
}
