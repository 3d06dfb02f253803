// SPDX-License-Identifier: Apache-2.0
/** Kubernetes' IP library: `ip()`, `isIP()`, `ip.isCanonical()` and the methods of an address. */
import { formatAddress, parseAddress, type Address } from './address.ts';
import { PARSED, linear, toScalar, type CelFunction } from './function.ts';

/** The namespace of `ip.isCanonical`. */
export class IpNamespace {
  readonly kind = 'ip';
}

export function address(text: string): Address {
  const found = parseAddress(text);
  if (found === undefined) throw new TypeError(`"${text.slice(0, 64)}" is not an IP address`);
  return found;
}

/** Reports whether `bits` starts with `prefix`, which has `length` bits. */
function starts({ bits, width }: Address, prefix: bigint, length: number): boolean {
  return bits >> BigInt(width - length) === prefix;
}

type Test = (ip: Address) => boolean;

const isUnspecified: Test = (ip) => ip.bits === 0n;
const isLoopback: Test = (ip) => (ip.family === 4 ? starts(ip, 127n, 8) : ip.bits === 1n);
const isLinkLocalUnicast: Test = (ip) =>
  ip.family === 4 ? starts(ip, 0xa9fen, 16) : starts(ip, 0x3fan, 10);
const isLinkLocalMulticast: Test = (ip) =>
  ip.family === 4
    ? starts(ip, 0xe00000n, 24)
    : starts(ip, 0xffn, 8) && ((ip.bits >> 112n) & 0xfn) === 2n;
const isMulticast: Test = (ip) => (ip.family === 4 ? starts(ip, 0xen, 4) : starts(ip, 0xffn, 8));
const isBroadcast: Test = (ip) => ip.family === 4 && ip.bits === 0xffffffffn;
const isGlobalUnicast: Test = (ip) =>
  ![isUnspecified, isLoopback, isMulticast, isLinkLocalUnicast, isBroadcast].some((is) => is(ip));

function test(name: string, handler: Test): CelFunction {
  const signature = { receiver: 'net.IP', parameters: '', returns: 'bool', handler };
  return { name, signatures: [signature], price: linear(toScalar) };
}

/**
 * Characters of the longest text: 0000:0000:0000:0000:0000:ffff:255.255.255.255/128
 * (INET6_ADDRSTRLEN).
 */
export const ADDRESS_TEXT = { size: 49 };

const FROM_TEXT = linear(toScalar, 1, PARSED);

export const IP: readonly CelFunction[] = [
  {
    name: 'string',
    signatures: [{ parameters: 'net.IP', returns: 'string', handler: formatAddress }],
    price: linear(() => ADDRESS_TEXT),
  },
  {
    name: 'ip',
    signatures: [{ parameters: 'string', returns: 'net.IP', handler: address }],
    price: FROM_TEXT,
  },
  {
    name: 'isIP',
    signatures: [
      {
        parameters: 'string',
        returns: 'bool',
        handler: (text: string) => parseAddress(text) !== undefined,
      },
    ],
    price: FROM_TEXT,
  },
  {
    namespace: 'ip',
    name: 'isCanonical',
    signatures: [
      {
        receiver: 'IpNamespace',
        parameters: 'string',
        returns: 'bool',
        handler: (_ip: IpNamespace, text: string) => formatAddress(address(text)) === text,
      },
    ],
    price: FROM_TEXT,
  },
  {
    name: 'family',
    signatures: [
      {
        receiver: 'net.IP',
        parameters: '',
        returns: 'int',
        handler: (ip: Address) => BigInt(ip.family),
      },
    ],
    price: linear(toScalar),
  },
  test('isUnspecified', isUnspecified),
  test('isLoopback', isLoopback),
  test('isLinkLocalUnicast', isLinkLocalUnicast),
  test('isLinkLocalMulticast', isLinkLocalMulticast),
  test('isGlobalUnicast', isGlobalUnicast),
];
