// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { GeneralName, GeneralNames } from 'pkijs';
import {
  decodeSubjectAltNames,
  encodeSubjectAltNames,
  type SubjectAltNames,
} from '#pki/names/general-names.ts';
import { explicit, implicit, oid, seq, utf8 } from '../../support/pki/der.ts';
import { refuses } from '../../support/pki/refuses.ts';

const NONE: SubjectAltNames = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
const dns = (name: string): Uint8Array => implicit(2, Buffer.from(name, 'latin1'));

test('names are encoded as pkijs encodes them: DNS, mail, IP, URI', () => {
  const names: SubjectAltNames = {
    dnsNames: ['a.example', '*.b.example'],
    ipAddresses: ['10.0.0.1', '2001:db8::1'],
    uris: ['spiffe://cluster.local/ns/a/sa/b'],
    emails: ['a@b.example'],
  };
  const v6 = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
  const ip = (octets: readonly number[]): GeneralName =>
    new GeneralName({
      type: 7,
      value: new asn1js.OctetString({ valueHex: Uint8Array.from(octets).buffer }),
    });
  const oracle = new GeneralNames({
    names: [
      new GeneralName({ type: 2, value: 'a.example' }),
      new GeneralName({ type: 2, value: '*.b.example' }),
      new GeneralName({ type: 1, value: 'a@b.example' }),
      ip([10, 0, 0, 1]),
      ip(v6),
      new GeneralName({ type: 6, value: 'spiffe://cluster.local/ns/a/sa/b' }),
    ],
  });
  const der = encodeSubjectAltNames(names);
  assert.deepEqual(Buffer.from(der), Buffer.from(oracle.toSchema().toBER()));
  assert.deepEqual(decodeSubjectAltNames(der), { ...names, other: 0 });
});

test('names are read unchanged, in their original case', () => {
  const names = decodeSubjectAltNames(seq(dns('WWW.Example.com'), dns('a",DNS:b')));
  assert.deepEqual(names.dnsNames, ['WWW.Example.com', 'a",DNS:b']);
});

test('an IPv6 address that maps IPv4 does not become IPv4', () => {
  const mapped = implicit(7, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1]);
  assert.deepEqual(decodeSubjectAltNames(seq(mapped)).ipAddresses, ['::ffff:10.0.0.1']);
});

test('names of other types are counted, not skipped', () => {
  const others = [
    explicit(0, oid('1.3.6.1.4.1.311.20.2.3'), explicit(0, utf8('upn'))),
    explicit(4, seq()),
    implicit(8, [0x2a, 3]),
  ];
  const names = decodeSubjectAltNames(seq(dns('a.example'), ...others));
  assert.equal(names.other, 3);
  assert.deepEqual(names.dnsNames, ['a.example']);
});

describe('a subject alternative name is refused', () => {
  const rows: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
    'with a NUL in a DNS name': [dns('a.example\0.evil.test'), /NUL/],
    'with a line feed in a DNS name': [dns('a\nb'), /control/],
    'that is empty': [dns(''), /empty/],
    'with an IP address of 3 bytes': [implicit(7, [1, 2, 3]), /3 bytes/],
    'with a URI whose host is ambiguous': [
      implicit(6, Buffer.from('https://a@b.example/')),
      /user information/,
    ],
  };
  for (const [name, [der, message]] of Object.entries(rows)) {
    test(name, () => refuses(() => decodeSubjectAltNames(seq(der)), 'NAME_INVALID', message));
  }
});

test('a name too long to be canonical is refused by its length', () => {
  const [longest, longer] = [2048, 2049].map((length) => `https://a/${'b'.repeat(length - 10)}`);
  const uri = (text = ''): Uint8Array => seq(implicit(6, Buffer.from(text)));
  assert.deepEqual(decodeSubjectAltNames(uri(longest)).uris, [longest]);
  refuses(() => decodeSubjectAltNames(uri(longer)), 'DER_LIMIT', /more than 2048 bytes/);
});

describe('names that no certificate may contain are not encoded', () => {
  const rows: Readonly<Record<string, SubjectAltNames>> = {
    'a DNS name that is not ASCII': { ...NONE, dnsNames: ['b\u00fccher.example'] },
    'a DNS name with a NUL': { ...NONE, dnsNames: ['a\0b'] },
    'an empty URI': { ...NONE, uris: [''] },
    'a mail address that is not ASCII': { ...NONE, emails: ['\u00fc@b.example'] },
    'an IP address that is none': { ...NONE, ipAddresses: ['10.0.0'] },
  };
  for (const [name, names] of Object.entries(rows)) {
    test(name, () => refuses(() => encodeSubjectAltNames(names), 'NAME_INVALID', /\w/));
  }
  test('with a short message even for a long name', () => {
    const names = { ...NONE, dnsNames: [`\u00fc${'a'.repeat(100_000)}`] };
    refuses(() => encodeSubjectAltNames(names), 'NAME_INVALID', /^.{1,300}$/);
  });
});

test('encoded names are decoded again', () => {
  const list = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 5 });
  const lists = fc
    .record({
      dnsNames: list(fc.domain()),
      ipAddresses: list(fc.ipV4()),
      uris: list(fc.webAuthority().map((host) => `https://${host}/`)),
      emails: list(fc.emailAddress()),
    })
    .filter((names) => Object.values(names).flat().length > 0);
  fc.assert(
    fc.property(lists, (names) => {
      let read: SubjectAltNames;
      try {
        read = decodeSubjectAltNames(encodeSubjectAltNames(names));
      } catch {
        return; // a URI that is not canonical
      }
      assert.deepEqual({ ...read }, { ...names, other: 0 });
    }),
  );
});
