// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { canonicalDnsName, canonicalEmail, canonicalIp } from '#pki/names/canonical.ts';
import { canonicalUri } from '#pki/names/canonical-uri.ts';
import { refuses } from '../../support/pki/refuses.ts';

interface Kind {
  readonly canonical: (text: string) => string;
  /** Text → canonical text. */
  readonly accepts: Readonly<Record<string, string>>;
  /** Law → texts. */
  readonly refuses: Readonly<Record<string, readonly string[]>>;
}

const LONG_LABEL = 'a'.repeat(63);

const KINDS: Readonly<Record<string, Kind>> = {
  'DNS name': {
    canonical: canonicalDnsName,
    accepts: {
      'example.com': 'example.com',
      'WWW.Example.COM': 'www.example.com',
      localhost: 'localhost',
      '*.example.com': '*.example.com',
      'xn--bcher-kva.example': 'xn--bcher-kva.example',
      '1.example': '1.example',
      [`${LONG_LABEL}.example`]: `${LONG_LABEL}.example`,
    },
    refuses: {
      'an empty name': [''],
      'an empty label': ['a..b', '.example.com', 'example.com.', '.'],
      'a NUL or a control character': ['example.com\0.evil.test', 'a\nb.example', 'a\x7f.example'],
      'a character outside LDH': ['a_b.example', 'a b.example', 'a"b.example', 'a,DNS:b.example'],
      'an international name that is not an A-label': [
        'b\u00fccher.example',
        '\u212aelvin.example',
      ],
      'a hyphen at an end of a label': ['-a.example', 'a-.example'],
      'a label of 64 characters': [`${LONG_LABEL}a.example`],
      'a name of 254 characters': [`${`${LONG_LABEL}.`.repeat(3)}${'a'.repeat(62)}`],
      'a wildcard over everything or one label': ['*', '*.', '*.com'],
      'a wildcard that is not the whole first label': [
        'a*.example.com',
        'a.*.example.com',
        '*.*.b.c',
      ],
      'an IP address': ['10.0.0.1', '1.2.3', '::1'],
    },
  },
  'IP address': {
    canonical: canonicalIp,
    accepts: {
      '10.0.0.1': '10.0.0.1',
      '0.0.0.0': '0.0.0.0',
      '::': '::',
      '::1': '::1',
      '2001:DB8::1': '2001:db8::1',
      '2001:db8:0:0:0:0:0:1': '2001:db8::1',
      '2001:0db8:0:1::1': '2001:db8:0:1::1',
      '1:0:0:2:0:0:0:3': '1:0:0:2::3',
      '1:0:2:3:4:5:6:7': '1:0:2:3:4:5:6:7',
      '64:ff9b::10.0.0.1': '64:ff9b::a00:1',
    },
    refuses: {
      'an empty text': [''],
      'a zone': ['fe80::1%eth0'],
      'octal, short and hexadecimal IPv4': ['010.0.0.1', '10.1', '0x0a000001', '167772161'],
      'an octet above 255': ['256.0.0.1'],
      'too many or too few groups': ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1::2::3', '12345::'],
      'IPv4 mapped into IPv6': ['::ffff:10.0.0.1', '::ffff:a00:1', '0:0:0:0:0:FFFF:0a00:0001'],
      'brackets, blanks, masks': ['[::1]', ' ::1', '10.0.0.1 ', '10.0.0.0/8'],
    },
  },
  URI: {
    canonical: canonicalUri,
    accepts: {
      'https://Example.COM/Path?q=A#f': 'https://example.com/Path?q=A#f',
      'HTTPS://example.com:8443/': 'https://example.com:8443/',
      'urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8':
        'urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      'spiffe://cluster.local/ns/a/sa/b': 'spiffe://cluster.local/ns/a/sa/b',
      'SPIFFE://Cluster.Local/ns/A': 'spiffe://cluster.local/ns/A',
      'spiffe://cluster.local': 'spiffe://cluster.local',
    },
    refuses: {
      'an empty text or a relative one': ['', '/path', 'example.com', '//example.com/'],
      'characters that must be escaped': [
        'https://a.example/ ',
        'https://a.example/\0',
        'https://a.example/"',
      ],
      'half an escape': ['https://a.example/%', 'https://a.example/%2'],
      'user information': [
        'https://user@a.example/',
        'https://user:pw@a.example/',
        'https://a.example@b.example/',
      ],
      'a wildcard for a host': ['https://*.example.com/', 'https://*/'],
      'no host where there are slashes': ['https:///path', 'https://:443/'],
      'a dot segment': [
        'https://a.example/../b',
        'https://a.example/b/..',
        'https://a.example/./b',
      ],
      'a dot segment in disguise': ['https://a.example/%2e%2e/b', 'https://a.example/%2E./b'],
      'a bad port': ['https://a.example:x/', 'https://a.example:999999/'],
      'more than 2048 bytes': [`https://a.example/${'a'.repeat(2048)}`],
      'a SPIFFE ID with an empty segment': [
        'spiffe://a.test//b',
        'spiffe://a.test/b/',
        'spiffe://a.test/',
      ],
      'a SPIFFE ID with a dot segment': [
        'spiffe://a.test/ns/../b',
        'spiffe://a.test/./b',
        'spiffe://a.test/..',
      ],
      'a SPIFFE ID with an escape': ['spiffe://a.test/ns%2fb', 'spiffe://a.test/%41'],
      'a SPIFFE ID with a port, a query, a fragment or a user': [
        'spiffe://a.test:1/b',
        'spiffe://a.test/b?c',
        'spiffe://a.test/b#c',
        'spiffe://u@a.test/b',
      ],
      'a SPIFFE ID with an empty label': [
        'spiffe://.a.test/b',
        'spiffe://a..test/b',
        'spiffe://a.test./b',
      ],
      'a SPIFFE ID with a trust domain of 256 characters': [`spiffe://${'a'.repeat(256)}/b`],
      'a SPIFFE ID without a trust domain': ['spiffe:///b', 'spiffe:a', 'spiffe://'],
    },
  },
  'mail address': {
    canonical: canonicalEmail,
    accepts: {
      'a@example.com': 'a@example.com',
      'A.b+c@Example.COM': 'A.b+c@example.com',
    },
    refuses: {
      'no local part or domain': ['', '@example.com', 'a@', 'a'],
      'quotes and comments': ['"a b"@example.com', 'a(b)@example.com', 'Joe <a@example.com>'],
      'an empty atom': ['.a@example.com', 'a..b@example.com', 'a.@example.com'],
      'two domains': ['a@b@example.com'],
      'a literal or a wildcard': ['a@[10.0.0.1]', 'a@*.example.com'],
      'a NUL': ['a\0@example.com'],
      'more than 254 characters': [`${'a'.repeat(60)}@${`${LONG_LABEL}.`.repeat(3)}example`],
      'a local part of 65 characters': [`${'a'.repeat(65)}@example.com`],
    },
  },
};

for (const [name, kind] of Object.entries(KINDS)) {
  describe(`a ${name}`, () => {
    for (const [text, canonical] of Object.entries(kind.accepts)) {
      test(`${text.slice(0, 60)} is ${canonical.slice(0, 60)}`, () => {
        assert.equal(kind.canonical(text), canonical);
        assert.equal(kind.canonical(canonical), canonical, 'canonical twice is canonical once');
      });
    }
    for (const [law, texts] of Object.entries(kind.refuses)) {
      test(`with ${law} is refused`, () => {
        for (const text of texts) refuses(() => kind.canonical(text), 'NAME_INVALID', /\w/);
      });
    }
    test('is shortened in error messages', () => {
      const text = `\u0000${'x'.repeat(10_000)}`;
      refuses(() => kind.canonical(text), 'NAME_INVALID', /^[^\0]{1,400}$/);
    });
  });
}

test('canonicalization is idempotent', () => {
  fc.assert(
    fc.property(fc.domain(), (domain) => {
      const canonical = tryCanonical(canonicalDnsName, domain);
      if (canonical !== undefined) assert.equal(canonicalDnsName(canonical), canonical);
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
      const canonical = tryCanonical(canonicalIp, address);
      if (canonical !== undefined) assert.equal(canonicalIp(canonical), canonical);
    }),
  );
  fc.assert(
    fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (url) => {
      const canonical = tryCanonical(canonicalUri, url);
      if (canonical !== undefined) assert.equal(canonicalUri(canonical), canonical);
    }),
  );
});

test('a canonical SPIFFE ID has no dot segments', () => {
  const segment = fc.stringMatching(/^[a-z.%/2ef]{0,6}$/);
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 4 }), (segments) => {
      const canonical = tryCanonical(canonicalUri, `spiffe://a.test/${segments.join('/')}`);
      if (canonical === undefined) return;
      const path = canonical.slice('spiffe://a.test'.length);
      assert.equal(new URL(canonical).pathname, path);
      assert.ok(!/%|\/\/|\/\.{1,2}(?:\/|$)/.test(path), canonical);
    }),
  );
});

function tryCanonical(canonical: (text: string) => string, text: string): string | undefined {
  try {
    return canonical(text);
  } catch {
    return undefined;
  }
}
