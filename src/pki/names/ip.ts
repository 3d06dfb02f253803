// SPDX-License-Identifier: Apache-2.0
import { isIPv4, isIPv6 } from 'node:net';

/** Canonical text of 4 or 16 bytes (RFC 5952 §4), or undefined for another length. */
export function ipText(bytes: Uint8Array): string | undefined {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return undefined;
  if (isMapped(bytes)) return `::ffff:${bytes.subarray(12).join('.')}`;
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  const gap = longestZeros(groups);
  if (gap.length < 2) return groups.join(':');
  const before = groups.slice(0, gap.start).join(':');
  return `${before}::${groups.slice(gap.start + gap.length).join(':')}`;
}

/** IPv4 in IPv6's clothes, `::ffff:a.b.c.d`: some verifiers take it for a.b.c.d, some do not. */
export function isMapped(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, 12);
  return bytes.length === 16 && head.every((octet, i) => octet === (i < 10 ? 0 : 0xff));
}

/** The first of the longest runs of zero groups. */
function longestZeros(groups: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  groups.forEach((group, i) => {
    if (group !== '0') start = i + 1;
    else if (i + 1 - start > best.length) best = { start, length: i + 1 - start };
  });
  return best;
}

/** 4 or 16 bytes of an address's text, or undefined when it is none. */
export function ipBytes(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const [head = '', tail] = text.split('::');
  const left = groupBytes(head);
  const right = groupBytes(tail ?? '');
  const bytes = new Uint8Array(16);
  bytes.set(left);
  bytes.set(right, 16 - right.length);
  return bytes;
}

function groupBytes(text: string): readonly number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
