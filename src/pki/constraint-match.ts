// SPDX-License-Identifier: Apache-2.0
import { isIPv4 } from 'node:net';
import { ipBytes } from './ip.ts';

export type ConstraintKind = 'dns' | 'email' | 'uri' | 'ip';

/** One constraint of RFC 5280 §4.2.1.10. */
export type Subtree =
  | { readonly kind: 'dns' | 'email' | 'uri'; readonly text: string }
  /** Address and mask, equally long. */
  | { readonly kind: 'ip'; readonly range: Uint8Array };

/** By the strictest reading that is about: RFC 5280's for URIs and email, Go's for DNS. */
export function isPermitted(name: string, subtree: Subtree): boolean {
  if (subtree.kind === 'ip') return isInRange(name, subtree.range);
  const base = subtree.text.toLowerCase();
  const host = hostOf(name, subtree.kind);
  if (host === undefined) return false;
  if (base.startsWith('.')) return host.endsWith(base);
  if (subtree.kind === 'dns') return base === '' || isBelow(host, base);
  if (base.includes('@')) return isSameMailbox(name, subtree.text);
  return host === base;
}

/** By the widest reading that is about; what has no host to compare is excluded with the rest. */
export function isExcluded(name: string, subtree: Subtree): boolean {
  if (subtree.kind === 'ip') return isInRange(name, subtree.range);
  const base = subtree.text.toLowerCase().replace(/^\./, '');
  const host = hostOf(name, subtree.kind);
  if (host === undefined || base === '') return true;
  if (base.includes('@')) return isSameMailbox(name, subtree.text);
  if (!host.startsWith('*.')) return isBelow(host, base);
  // A wildcard stands for every label: it may hit what is excluded below it (CVE-2025-61727).
  const parent = host.slice(2);
  return isBelow(parent, base) || isBelow(base, parent);
}

function isBelow(host: string, base: string): boolean {
  return host === base || host.endsWith(`.${base}`);
}

/** The domain that is compared, in lower case; undefined where there is none. */
function hostOf(name: string, kind: 'dns' | 'email' | 'uri'): string | undefined {
  if (kind === 'dns') return name.toLowerCase();
  if (kind === 'email') return name.slice(name.lastIndexOf('@') + 1).toLowerCase();
  const authority = /^[^:]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/.exec(name)?.[1] ?? '';
  const host = authority.replace(/:\d*$/, '').toLowerCase();
  return host === '' || host.startsWith('[') || isIPv4(host) ? undefined : host;
}

/** The local part is compared as it is. */
function isSameMailbox(name: string, base: string): boolean {
  const [at, baseAt] = [name.lastIndexOf('@'), base.lastIndexOf('@')];
  return (
    name.slice(0, at) === base.slice(0, baseAt) &&
    name.slice(at).toLowerCase() === base.slice(baseAt).toLowerCase()
  );
}

function isInRange(name: string, range: Uint8Array): boolean {
  const address = ipBytes(name);
  if (address === undefined || range.length !== 2 * address.length) return false;
  const mask = range.subarray(address.length);
  return address.every((octet, i) => ((octet ^ (range[i] ?? 0)) & (mask[i] ?? 0)) === 0);
}
