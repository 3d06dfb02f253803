// SPDX-License-Identifier: Apache-2.0
import { isIP, isIPv4 } from 'node:net';
import { isIpv4Mapped, parseIp } from '#base/ip.ts';

/** The kinds of names whose constraints are compared. */
export type ConstraintKind = 'dns' | 'email' | 'uri' | 'ip';

/** The base of one GeneralSubtree of nameConstraints (RFC 5280 §4.2.1.10). */
export type NameConstraint =
  | { readonly kind: 'dns' | 'email' | 'uri'; readonly text: string }
  /** Address and mask, 4 or 16 octets each. */
  | { readonly kind: 'ip'; readonly range: Uint8Array };

/**
 * Reports whether a text is dotted labels of visible characters. Go requires no more of a name that
 * it compares.
 */
function isDomain(text: string): boolean {
  return /^[!-~]+$/.test(text) && !text.split('.').includes('');
}

/** Atoms between dots (RFC 5322 §3.2.3), without quoting, which readers remove differently. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

function isMailbox(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && LOCAL_PART.test(text.slice(0, at)) && isDomain(text.slice(at + 1));
}

/**
 * Reports whether the text of a constraint can be compared with names. If not, Go rejects the
 * certificate.
 */
export function isComparableConstraint(kind: 'dns' | 'email' | 'uri', text: string): boolean {
  if (text === '') return true;
  if (kind === 'email' && text.includes('@')) return isMailbox(text);
  if (kind === 'uri' && isIP(text) !== 0) return false;
  return isDomain(text.replace(/^\./, ''));
}

/** Reports whether the mask of an address range is set bits followed by zero bits. */
export function isContiguousMask(mask: Uint8Array): boolean {
  const bits = Array.from(mask, (octet) => octet.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits);
}

/**
 * Reports whether a permitted subtree permits a name, by the strictest reading in use: RFC 5280's
 * for URIs and email, Go's for DNS.
 */
export function isPermitted(name: string, subtree: NameConstraint): boolean {
  if (subtree.kind === 'ip') return !isAmbiguous(name) && isInRange(name, subtree.range);
  const base = subtree.text.toLowerCase();
  const host = hostOf(name, subtree.kind);
  if (host === undefined) return false;
  if (base.startsWith('.')) return host.endsWith(base);
  if (subtree.kind === 'dns') return base === '' || isBelow(host, base);
  if (base.includes('@')) return isSameMailbox(name, subtree.text);
  return host === base;
}

/**
 * Reports whether an excluded subtree excludes a name, by the widest reading in use. A name without
 * a host to compare is excluded.
 */
export function isExcluded(name: string, subtree: NameConstraint): boolean {
  if (subtree.kind === 'ip') return isAmbiguous(name) || isInRange(name, subtree.range);
  const base = subtree.text.toLowerCase().replace(/^\./, '');
  const host = hostOf(name, subtree.kind);
  if (host === undefined || base === '') return true;
  if (base.includes('@')) return isSameMailbox(name, subtree.text);
  if (!host.startsWith('*.')) return isBelow(host, base);
  // A wildcard matches every label, including one that is excluded below it (CVE-2025-61727).
  const parent = host.slice(2);
  return isBelow(parent, base) || isBelow(base, parent);
}

/**
 * Reports whether each name in a subtree of DNS names or URIs is in another, too, by the strictest
 * reading in use: a host of URIs is that host alone (RFC 5280 §4.2.1.10).
 */
export function isInSubtree(inner: NameConstraint, outer: NameConstraint): boolean {
  if (inner.kind === 'ip' || outer.kind === 'ip' || inner.kind !== outer.kind) return false;
  const [text, base] = [inner.text.toLowerCase(), outer.text.toLowerCase()];
  if (text === base) return true;
  if (base.startsWith('.')) return text.endsWith(base);
  return outer.kind === 'dns' && (base === '' || isBelow(text, base));
}

/**
 * Reports whether a name can be compared with constraints at all. Below a CA with constraints, Go
 * rejects others.
 */
export function isComparable(name: string, kind: ConstraintKind): boolean {
  return kind === 'ip' || hostOf(name, kind) !== undefined;
}

function isBelow(host: string, base: string): boolean {
  return host === base || host.endsWith(`.${base}`);
}

/** Returns the domain to compare, in lower case, or undefined when the name has none. */
function hostOf(name: string, kind: 'dns' | 'email' | 'uri'): string | undefined {
  if (kind === 'dns') return isDomain(name) ? name.toLowerCase() : undefined;
  if (kind === 'email') {
    return isMailbox(name) ? name.slice(name.lastIndexOf('@') + 1).toLowerCase() : undefined;
  }
  const authority = /^[^:]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/.exec(name)?.[1] ?? '';
  const host = authority.replace(/:\d*$/, '').toLowerCase();
  return host.startsWith('[') || isIPv4(host) || !isDomain(host) ? undefined : host;
}

/** Compares the local part exactly, and the domain without regard to case. */
function isSameMailbox(name: string, base: string): boolean {
  const [at, baseAt] = [name.lastIndexOf('@'), base.lastIndexOf('@')];
  return (
    name.slice(0, at) === base.slice(0, baseAt) &&
    name.slice(at).toLowerCase() === base.slice(baseAt).toLowerCase()
  );
}

/**
 * Reports whether an address is IPv4-mapped IPv6. Some verifiers compare it with IPv4 ranges, some
 * with IPv6 ranges.
 */
function isAmbiguous(name: string): boolean {
  const address = parseIp(name);
  return address === undefined || isIpv4Mapped(address);
}

function isInRange(name: string, range: Uint8Array): boolean {
  const address = parseIp(name);
  if (address === undefined || range.length !== 2 * address.length) return false;
  const mask = range.subarray(address.length);
  return address.every((octet, i) => ((octet ^ (range[i] ?? 0)) & (mask[i] ?? 0)) === 0);
}
