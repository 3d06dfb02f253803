// SPDX-License-Identifier: Apache-2.0
/** Texts for the functions of CEL, put together from what is good and what is almost good. */
import { Dice } from '../../oracle/dice.ts';

export interface Family {
  /** CEL over `self`, to a text: everything that the functions say of it. */
  readonly expression: string;
  /** Pieces without `|`, which separates the inputs. */
  readonly pieces: readonly string[];
  /** At most so many make an input. */
  readonly most: number;
  /** Of these we say no on purpose, whatever the API server says. */
  readonly without?: RegExp;
  /** Where we say no (`-`) the API server may say yes: we read more strictly, on purpose. */
  readonly stricter?: true;
}

const said = (...calls: readonly string[]): string => calls.join(" + ',' + ");
const flag = (call: string): string => `(${call} ? 'y' : 'n')`;

const IP = 'ip(self)';
const ADDRESS = [
  `string(${IP}.family())`,
  `string(${IP})`,
  flag('ip.isCanonical(self)'),
  flag(`${IP}.isLoopback()`),
  flag(`${IP}.isUnspecified()`),
  flag(`${IP}.isLinkLocalUnicast()`),
  flag(`${IP}.isLinkLocalMulticast()`),
  flag(`${IP}.isGlobalUnicast()`),
];

const CIDR = 'cidr(self)';
const PREFIX = [
  `string(${CIDR})`,
  `string(${CIDR}.ip())`,
  `string(${CIDR}.masked())`,
  `string(${CIDR}.prefixLength())`,
  flag(`${CIDR}.containsIP('10.1.2.3')`),
  flag(`${CIDR}.containsIP(ip('2001:db8::1'))`),
  flag(`${CIDR}.containsCIDR('10.1.0.0/16')`),
];

const URL = 'url(self)';
const PARTS = ['getScheme', 'getHost', 'getHostname', 'getPort', 'getEscapedPath'];

const QUANTITY = 'quantity(self)';
const AMOUNTS = ['0', '1', '1k', '1Ki', '500m', '1E', '9223372036854775807'];

export const FAMILIES: Readonly<Record<string, Family>> = {
  ip: {
    expression: `isIP(self) ? ${said(...ADDRESS)} : '-'`,
    pieces: [
      '0',
      '1',
      '10',
      '127',
      '169',
      '224',
      '239',
      '254',
      '255',
      '256',
      '01',
      '.',
      '.',
      ':',
      ':',
      '::',
      '::1',
      'fe80',
      'ff02',
      'ff05',
      'db8',
      '2001',
      'ffff',
      'FFFF',
      'g',
      '%eth0',
      '10.0.0.1',
      '169.254.1.1',
      '224.0.0.1',
      '::ffff:',
      ' ',
      '/',
      '-1',
      '0:0:0:0:0:0:0:1',
    ],
    most: 6,
  },
  cidr: {
    expression: `isCIDR(self) ? ${said(...PREFIX)} : '-'`,
    pieces: [
      '10.0.0.0',
      '10.1.2.3',
      '0.0.0.0',
      '255.255.255.255',
      '::',
      '2001:db8::',
      'fe80::1',
      '/',
      '/',
      '/8',
      '/16',
      '/24',
      '/32',
      '/33',
      '/64',
      '/128',
      '/129',
      '/0',
      '/00',
      '/08',
      '0',
      '1',
      ' ',
      '+8',
      '-1',
      '::ffff:10.0.0.0',
      '%eth0',
    ],
    most: 3,
  },
  url: {
    expression: `isURL(self) ? ${said(...PARTS.map((part) => `${URL}.${part}()`))} : '-'`,
    pieces: [
      'https',
      'HTTP',
      'spiffe',
      'urn',
      ':',
      '://',
      '//',
      '/',
      '?',
      '#',
      '@',
      '[',
      ']',
      '%2f',
      'example.com',
      'EXAMPLE',
      'a',
      'b.c',
      ':80',
      ':',
      ':x',
      '[::1]',
      '[::1]:80',
      'u:p@',
      ' ',
      '/a/b',
      '/../',
      '?x=1',
      '&x=2',
      '#f',
      '%',
      '%zz',
      '%41',
      '\\',
      '^',
      '"',
      '<',
      'é',
      '10.0.0.1',
      '*',
      '.',
      '-',
      '_',
      '~',
      '+',
      "'",
      '(',
      '{',
      '`',
      '!',
      '$',
      '=',
      ',',
    ],
    most: 6,
    // RFC 3986 to the letter: src/cel/functions/url.ts.
    stricter: true,
  },
  quantity: {
    expression: `isQuantity(self) ? ${said(
      `string(sign(${QUANTITY}))`,
      `(${QUANTITY}.isInteger() ? string(${QUANTITY}.asInteger()) : 'fraction')`,
      ...AMOUNTS.map((amount) => `string(${QUANTITY}.compareTo(quantity('${amount}')))`),
      `string(${QUANTITY}.add(quantity('1')).compareTo(quantity('1k')))`,
      `string(sign(${QUANTITY}.sub(quantity('1k'))))`,
    )} : '-'`,
    pieces: [
      '0',
      '1',
      '9',
      '12',
      '007',
      '1024',
      '9223372036854775807',
      '9223372036854775808',
      '.',
      '.5',
      '.25',
      '.000000001',
      '.0000000001',
      '+',
      '-',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ti',
      'Pi',
      'Ei',
      'e3',
      'E3',
      'e-3',
      'e',
      'E+2',
      'K',
      ' ',
    ],
    most: 4,
    // Exponents of more than two digits: src/cel/functions/quantity-arithmetic.ts.
    without: /[eE][+-]?[0-9]{3}/,
  },
  strings: {
    expression: said(
      'self.lowerAscii()',
      'self.upperAscii()',
      'self.trim()',
      "string(self.indexOf('ab'))",
      "string(self.lastIndexOf('b'))",
      "self.replace('ab', '$&')",
      "self.split('b').join('+')",
      'string(self.size())',
      "(self.size() > 2 ? self.substring(1, 3) + self.charAt(2) : '')",
      flag("self.startsWith('a')"),
      flag("self.endsWith('b')"),
    ),
    pieces: [
      'a',
      'b',
      'ab',
      'A',
      'Z',
      'É',
      'é',
      'ß',
      '\u212a',
      '\u0130',
      '😀',
      ' ',
      '\t',
      '\u00a0',
      '\u0085',
      '\ufeff',
      '\u2028',
      '\u3000',
      '\u200b',
      '$',
      '.',
      '-',
      '0',
      '\u0301',
    ],
    most: 8,
  },
  patterns: {
    expression: said(
      flag("self.matches('^a+b?$')"),
      flag("self.matches('(?i)ab')"),
      flag(String.raw`self.matches('\\w\\s')`),
      flag("self.matches('^[^/]+(/[a-z0-9-]+){1,3}$')"),
      flag(String.raw`self.matches('\\pL\\b')`),
      "self.find('[a-z]+[0-9]*')",
      "self.findAll('[ab]').join('+')",
      "self.findAll('b*', 2).join('+')",
    ),
    pieces: [
      'a',
      'b',
      'ab',
      'A',
      'B',
      '/',
      '-',
      '0',
      '12',
      ' ',
      '\n',
      'é',
      '😀',
      '\u017f',
      '\u212a',
      'x',
      '_',
      '.',
      '\u00a0',
      'aaaa',
    ],
    most: 7,
  },
};

/** So many inputs of a family, the same in every run. */
export function inputsOf({ pieces, most, without }: Family, count: number): readonly string[] {
  const dice = new Dice(20261121);
  const inputs: string[] = [];
  while (inputs.length < count) {
    const length = dice.roll(most + 1);
    const text = Array.from({ length }, () => dice.of(pieces)).join('');
    if (without?.test(text) !== true) inputs.push(text);
  }
  return inputs;
}
