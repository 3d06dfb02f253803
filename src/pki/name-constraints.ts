// SPDX-License-Identifier: Apache-2.0
import type { Certificate } from './certificate.ts';
import { readWhole, type DerReader } from './der-reader.ts';
import { contextConstructed, contextPrimitive } from './der-tags.ts';
import { asciiOf } from './der-text.ts';
import { ipBytes } from './ip.ts';
import { refused } from './refused.ts';

/** Subtrees × names are compared; a CA that needs more than this needs another design. */
const MAX_SUBTREES = 100;
const MAX_BYTES = 64 * 1024;

type Kind = 'dns' | 'email' | 'uri' | 'ip';

/** A constraint of a kind that we can compare, as it is encoded. */
interface Subtree {
  readonly kind: Kind;
  readonly base: Uint8Array;
}

interface Constraints {
  /** Empty: everything of that kind is permitted. */
  readonly permitted: readonly Subtree[];
  readonly excluded: readonly Subtree[];
  /** There are subtrees of kinds that we cannot compare: directory names and the like. */
  readonly hasOther: boolean;
}

const KINDS: ReadonlyMap<number, Kind> = new Map([
  [contextPrimitive(1), 'email'],
  [contextPrimitive(2), 'dns'],
  [contextPrimitive(6), 'uri'],
  [contextPrimitive(7), 'ip'],
]);

/** @throws SignerError DER_MALFORMED or DER_LIMIT */
export function decodeNameConstraints(value: Uint8Array): Constraints {
  const fields = readWhole(value, 'nameConstraints', MAX_BYTES);
  if (fields.done) throw fields.malformed('nameConstraints is empty');
  const permitted = readSubtrees(fields, contextConstructed(0));
  const excluded = readSubtrees(fields, contextConstructed(1));
  fields.finish();
  return {
    permitted: permitted.known,
    excluded: excluded.known,
    hasOther: permitted.hasOther || excluded.hasOther,
  };
}

function readSubtrees(
  fields: DerReader,
  tag: number,
): { readonly known: readonly Subtree[]; readonly hasOther: boolean } {
  const known: Subtree[] = [];
  let hasOther = false;
  if (!fields.at(tag)) return { known, hasOther };
  const list = fields.enter(tag, 'nameConstraints');
  while (!list.done) {
    const subtree = list.sequence('a name constraint');
    const found = subtree.peek() ?? 0;
    const kind = KINDS.get(found);
    if (kind === undefined) {
      subtree.raw('a name constraint');
      hasOther = true;
    } else {
      known.push({ kind, base: subtree.read(found, 'a name constraint') });
    }
    // minimum is 0 and so not written, maximum is absent (RFC 5280 §4.2.1.10).
    subtree.finish();
    if (known.length > MAX_SUBTREES) {
      throw refused('DER_LIMIT', `nameConstraints has more than ${MAX_SUBTREES} subtrees`);
    }
  }
  return { known, hasOther };
}

/**
 * What the names of a path violate of its next issuer's constraints, or undefined. Of kinds that we
 * cannot compare nothing is accepted at all: we rather refuse a CA than issue what a verifier will.
 */
export function checkNameConstraints(
  issuer: Certificate,
  path: readonly Certificate[],
): string | undefined {
  if (issuer.nameConstraints === undefined) return undefined;
  const constraints = decodeNameConstraints(issuer.nameConstraints);
  if (constraints.hasOther) {
    return 'a CA has name constraints of kinds that are not supported (only DNS, IP, URI, email)';
  }
  for (const { sans } of path) {
    const fault =
      violation(constraints, 'dns', sans.dnsNames) ??
      violation(constraints, 'ip', sans.ipAddresses) ??
      violation(constraints, 'uri', sans.uris) ??
      violation(constraints, 'email', sans.emails);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function violation(
  { permitted, excluded }: Constraints,
  kind: Kind,
  names: readonly string[],
): string | undefined {
  const allowed = permitted.filter((each) => each.kind === kind);
  const forbidden = excluded.filter((each) => each.kind === kind);
  for (const name of names) {
    const isOut = allowed.length > 0 && !allowed.some((each) => MATCH[kind](name, each.base));
    if (isOut || forbidden.some((each) => MATCH[kind](name, each.base))) {
      return `the name "${name.slice(0, 100)}" is outside a CA’s name constraints`;
    }
  }
  return undefined;
}

const MATCH: Readonly<Record<Kind, (name: string, base: Uint8Array) => boolean>> = {
  dns: matchesDomain,
  email: matchesEmail,
  uri: (name, base) => matchesHost(uriHost(name), text(base)),
  ip: matchesRange,
};

/** A name and everything below it; a leading dot, which some write, means the same. */
function matchesDomain(name: string, base: Uint8Array): boolean {
  const domain = text(base).replace(/^\./, '');
  const host = name.toLowerCase().replace(/^\*\./, '');
  return domain === '' || host === domain || host.endsWith(`.${domain}`);
}

/** A host, or with a leading dot every host below (RFC 5280 §4.2.1.10). */
function matchesHost(host: string, base: string): boolean {
  return base.startsWith('.') ? host.endsWith(base) : host === base;
}

/** An address, a host, or with a leading dot every host below. */
function matchesEmail(name: string, base: Uint8Array): boolean {
  const at = name.lastIndexOf('@');
  const host = name.slice(at + 1).toLowerCase();
  const wanted = asciiOf(base, 'a name constraint');
  const local = wanted.lastIndexOf('@');
  if (local === -1) return matchesHost(host, wanted.toLowerCase());
  return (
    name.slice(0, at) === wanted.slice(0, local) && host === wanted.slice(local + 1).toLowerCase()
  );
}

/** The host of a URI with an authority; others have none, so nothing matches them. */
function uriHost(uri: string): string {
  const authority = /^[^:]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/.exec(uri)?.[1] ?? '';
  return authority.replace(/:\d*$/, '').toLowerCase();
}

/** Address and mask, each as long as the name's address. */
function matchesRange(name: string, base: Uint8Array): boolean {
  const address = ipBytes(name);
  if (address === undefined || base.length !== 2 * address.length) return false;
  const mask = base.subarray(address.length);
  return address.every((octet, i) => ((octet ^ (base[i] ?? 0)) & (mask[i] ?? 0)) === 0);
}

function text(base: Uint8Array): string {
  return asciiOf(base, 'a name constraint').toLowerCase();
}
