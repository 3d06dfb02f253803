// SPDX-License-Identifier: Apache-2.0
/** Kubernetes' CIDR library: `cidr()`, `isCIDR()` and the methods of a prefix. */
import { formatAddress, parseAddress, Address } from './address.ts';
import { PARSED, linear, toScalar, type CelFunction, type Signature } from './function.ts';
import { ADDRESS_TEXT, address } from './ip.ts';

/**
 * An address and the length of its prefix in bits. It keeps the host bits, as in Go's netip.Prefix.
 */
export class Prefix {
  readonly ip: Address;
  readonly length: number;

  constructor(ip: Address, length: number) {
    this.ip = ip;
    this.length = length;
  }

  contains(other: Address): boolean {
    if (other.family !== this.ip.family) return false;
    const rest = BigInt(other.width - this.length);
    return other.bits >> rest === this.ip.bits >> rest;
  }
}

function parsePrefix(text: string): Prefix | undefined {
  const [, base, length] = /^(.*)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? [];
  const ip = base === undefined ? undefined : parseAddress(base);
  return ip === undefined || Number(length) > ip.width ? undefined : new Prefix(ip, Number(length));
}

function prefix(text: string): Prefix {
  const found = parsePrefix(text);
  if (found === undefined) throw new TypeError(`"${text.slice(0, 64)}" is not a CIDR`);
  return found;
}

function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  return outer.length <= inner.length && outer.contains(inner.ip);
}

function masked({ ip, length }: Prefix): Prefix {
  const rest = BigInt(ip.width - length);
  return new Prefix(new Address(ip.family, (ip.bits >> rest) << rest), length);
}

function method(parameters: string, returns: string, handler: Signature['handler']): Signature {
  return { receiver: 'net.CIDR', parameters, returns, handler };
}

const PRICE = linear(toScalar, 1, PARSED);

export const CIDR: readonly CelFunction[] = [
  {
    name: 'cidr',
    signatures: [{ parameters: 'string', returns: 'net.CIDR', handler: prefix }],
    price: PRICE,
  },
  {
    name: 'isCIDR',
    signatures: [
      {
        parameters: 'string',
        returns: 'bool',
        handler: (text: string) => parsePrefix(text) !== undefined,
      },
    ],
    price: PRICE,
  },
  {
    name: 'containsIP',
    signatures: [
      method('net.IP', 'bool', (outer: Prefix, ip: Address) => outer.contains(ip)),
      method('string', 'bool', (outer: Prefix, text: string) => outer.contains(address(text))),
    ],
    price: PRICE,
  },
  {
    name: 'containsCIDR',
    signatures: [
      method('net.CIDR', 'bool', containsPrefix),
      method('string', 'bool', (outer: Prefix, text: string) =>
        containsPrefix(outer, prefix(text)),
      ),
    ],
    price: PRICE,
  },
  {
    name: 'ip',
    signatures: [method('', 'net.IP', ({ ip }: Prefix) => ip)],
    price: PRICE,
  },
  {
    name: 'masked',
    signatures: [method('', 'net.CIDR', masked)],
    price: PRICE,
  },
  {
    name: 'prefixLength',
    signatures: [method('', 'int', ({ length }: Prefix) => BigInt(length))],
    price: PRICE,
  },
  {
    name: 'string',
    signatures: [
      {
        parameters: 'net.CIDR',
        returns: 'string',
        handler: ({ ip, length }: Prefix) => `${formatAddress(ip)}/${length}`,
      },
    ],
    price: linear(() => ADDRESS_TEXT),
  },
];
