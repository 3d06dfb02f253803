// SPDX-License-Identifier: Apache-2.0
import { san } from '../../support/pki/chain.ts';
import { explicit, extension, implicit, rdn, seq, utf8 } from '../../support/pki/der.ts';
import type { ChainParts } from '../oracle.ts';
import { authority, chain, chainsOf, leaf, type ChainCase, type ChainTable } from './case.ts';

const NAMES = 'RFC 5280 §4.2.1.10';
const EMAIL = 1;
const DNS = 2;
const DIRECTORY = 4;
const URI = 6;
const IP = 7;

type Base = readonly [kind: number, base: string | readonly number[]];

/** nameConstraints: what is permitted, what is excluded. */
function limits(permitted: readonly Base[], excluded: readonly Base[] = []): Uint8Array {
  const subtrees = (bases: readonly Base[]): readonly Uint8Array[] =>
    bases.map(([kind, base]) =>
      seq(implicit(kind, typeof base === 'string' ? Buffer.from(base) : base)),
    );
  return constraints([
    ...(permitted.length === 0 ? [] : [explicit(0, ...subtrees(permitted))]),
    ...(excluded.length === 0 ? [] : [explicit(1, ...subtrees(excluded))]),
  ]);
}

const constraints = (fields: readonly Uint8Array[]): Uint8Array =>
  extension('2.5.29.30', seq(...fields), true);

/** A leaf of one name below a CA, below a root, each with its limits. */
function below(
  name: readonly [number, string | readonly number[]],
  middle: Uint8Array,
  root?: Uint8Array,
): ChainParts {
  const top = authority('root', { more: root === undefined ? [] : [root] });
  const between = authority('middle', { by: top, more: [middle] });
  return chain(leaf(between, [san(name)]), [between], [top]);
}

const IPV4 = [10, 0, 0, 0, 255, 0, 0, 0];
const IPV6 = [0x20, 1, ...new Uint8Array(14), 255, 255, ...new Uint8Array(14)];

const CONSTRAINTS: ChainTable = {
  'dns-inside': ['', NAMES, () => below([DNS, 'a.example'], limits([[DNS, 'example']]))],
  'dns-itself': ['', NAMES, () => below([DNS, 'example'], limits([[DNS, 'example']]))],
  'dns-case': ['', NAMES, () => below([DNS, 'a.EXAMPLE'], limits([[DNS, 'Example']]))],
  'dns-outside': [
    'the DNS name is outside',
    NAMES,
    () => below([DNS, 'a.other'], limits([[DNS, 'example']])),
  ],
  'dns-looks-alike': [
    'the DNS name ends alike and is outside',
    NAMES,
    () => below([DNS, 'badexample'], limits([[DNS, 'example']])),
  ],
  'dns-dotted': ['', NAMES, () => below([DNS, 'a.example'], limits([[DNS, '.example']]))],
  'dns-dotted-itself': [
    'a constraint with a dot holds for what is below only',
    NAMES,
    () => below([DNS, 'example'], limits([[DNS, '.example']])),
  ],
  'dns-excluded': [
    'the DNS name is excluded',
    NAMES,
    () => below([DNS, 'a.bad.example'], limits([[DNS, 'example']], [[DNS, 'bad.example']])),
  ],
  'dns-beside-excluded': [
    '',
    NAMES,
    () => below([DNS, 'good.example'], limits([[DNS, 'example']], [[DNS, 'bad.example']])),
  ],
  'dns-all-excluded': [
    'all DNS names are excluded',
    NAMES,
    () => below([DNS, 'a.example'], limits([], [[DNS, '']])),
  ],
  'dns-all-permitted': ['', NAMES, () => below([DNS, 'a.example'], limits([[DNS, '']]))],
  'wildcard-inside': ['', NAMES, () => below([DNS, '*.a.example'], limits([[DNS, 'example']]))],
  'wildcard-hits-excluded': [
    'a wildcard hits what is excluded (CVE-2025-61727)',
    NAMES,
    () => below([DNS, '*.example'], limits([], [[DNS, 'bad.example']])),
  ],
  'wildcard-outside': [
    'the wildcard is outside',
    NAMES,
    () => below([DNS, '*.other'], limits([[DNS, 'example']])),
  ],
  'dns-by-root': [
    'the root does not permit it',
    NAMES,
    () => below([DNS, 'a.other'], limits([[DNS, 'other']]), limits([[DNS, 'example']])),
  ],
  'dns-by-both': [
    '',
    NAMES,
    () => below([DNS, 'b.a.example'], limits([[DNS, 'a.example']]), limits([[DNS, 'example']])),
  ],
  'dns-widened': [
    'the lower CA permits more than the root',
    NAMES,
    () => below([DNS, 'b.example'], limits([[DNS, 'example']]), limits([[DNS, 'a.example']])),
  ],
  'other-kind': ['', NAMES, () => below([DNS, 'a.example'], limits([[EMAIL, 'example']]))],
  'ip-inside': ['', NAMES, () => below([IP, [10, 1, 2, 3]], limits([[IP, IPV4]]))],
  'ip-outside': [
    'the address is outside',
    NAMES,
    () => below([IP, [11, 1, 2, 3]], limits([[IP, IPV4]])),
  ],
  'ip-excluded': [
    'the address is excluded',
    NAMES,
    () => below([IP, [10, 1, 2, 3]], limits([], [[IP, IPV4]])),
  ],
  'ipv6-inside': [
    '',
    NAMES,
    () => below([IP, [0x20, 1, ...new Uint8Array(13), 1]], limits([[IP, IPV6]])),
  ],
  'ipv6-outside': [
    'the address is outside',
    NAMES,
    () => below([IP, [0x20, 2, ...new Uint8Array(14)]], limits([[IP, IPV6]])),
  ],
  'other-family': [
    'only IPv4 is permitted, the address is IPv6',
    NAMES,
    () => below([IP, [0x20, 1, ...new Uint8Array(14)]], limits([[IP, IPV4]])),
  ],
  'ip-mapped': [
    'the address is excluded, but mapped into IPv6',
    NAMES,
    () => below([IP, [...new Uint8Array(10), 255, 255, 10, 1, 2, 3]], limits([], [[IP, IPV4]])),
  ],
  'uri-inside': ['', NAMES, () => below([URI, 'spiffe://example/x'], limits([[URI, 'example']]))],
  'uri-outside': [
    'the host is outside',
    NAMES,
    () => below([URI, 'spiffe://other/x'], limits([[URI, 'example']])),
  ],
  'uri-below-host': [
    'a constraint without a dot is for one host',
    NAMES,
    () => below([URI, 'spiffe://a.example/x'], limits([[URI, 'example']])),
  ],
  'uri-below-domain': [
    '',
    NAMES,
    () => below([URI, 'spiffe://a.example/x'], limits([[URI, '.example']])),
  ],
  'uri-excluded': [
    'the host is excluded',
    NAMES,
    () => below([URI, 'spiffe://bad.example/x'], limits([], [[URI, 'bad.example']])),
  ],
  'uri-address': [
    'the host is an address, which no constraint permits',
    NAMES,
    () => below([URI, 'https://10.0.0.1/'], limits([[URI, 'example']])),
  ],
  'uri-port': ['', NAMES, () => below([URI, 'https://example:8443/'], limits([[URI, 'example']]))],
  'email-host': ['', NAMES, () => below([EMAIL, 'a@example'], limits([[EMAIL, 'example']]))],
  'email-outside': [
    'the mailbox is outside',
    NAMES,
    () => below([EMAIL, 'a@other'], limits([[EMAIL, 'example']])),
  ],
  'email-below-host': [
    'a constraint without a dot is for one host',
    NAMES,
    () => below([EMAIL, 'a@b.example'], limits([[EMAIL, 'example']])),
  ],
  'email-mailbox': ['', NAMES, () => below([EMAIL, 'a@example'], limits([[EMAIL, 'a@example']]))],
  'email-other-mailbox': [
    'another mailbox is permitted',
    NAMES,
    () => below([EMAIL, 'b@example'], limits([[EMAIL, 'a@example']])),
  ],
  'mail-unreadable': [
    'below any constraints a mail address must be one',
    NAMES,
    () => below([EMAIL, '*.a.example'], limits([[DNS, 'example']])),
  ],
  'uri-unreadable': [
    'below any constraints a URI must have a host name',
    NAMES,
    () => below([URI, 'https://10.0.0.1/'], limits([[DNS, 'example']])),
  ],
  'directory-names-of-a-leaf': [
    'the leaf is a CA that constrains directory names',
    NAMES,
    () => {
      const { intermediates, roots, ...rest } = directoryNames();
      return { ...rest, leaf: intermediates[0] ?? rest.leaf, intermediates: [], roots };
    },
  ],
  'directory-names': [
    'directory names are constrained, which Go and we do not compare',
    NAMES,
    directoryNames,
  ],
};

function directoryNames(): ChainParts {
  const name = explicit(DIRECTORY, seq(rdn('2.5.4.3', utf8('x'))));
  return below([DNS, 'a.example'], constraints([explicit(0, seq(name))]));
}

/** Whose names a CA may write. */
export function constraintCases(): readonly ChainCase[] {
  return chainsOf('constraints', CONSTRAINTS);
}
