// SPDX-License-Identifier: Apache-2.0
/**
 * Go's net/url as a second reader of URIs. What it reads otherwise than RFC 3986 appendix B reads
 * our canonical spelling is refused by us: a rule that compares texts and a verifier that parses
 * them must see one URI.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignerError, attempt } from '#base/errors.ts';
import { canonicalUri } from '#pki/names/canonical-uri.ts';
import { inShortOrLong } from './length.ts';
import { diceOf } from './mutants.ts';
import { ACCEPTED, openOracle, type Answer } from './oracle.ts';
import type { Dice } from './dice.ts';

const count = inShortOrLong(30_000, 1_000_000);

const CORPUS = [
  'https://a.example/team-a/web?x=1&y=%20#frag',
  'https://a.example:8443/%7Ea/%C3%A9',
  'HTTP://A.Example:080',
  'http://[2001:db8::1]:8080/a',
  'wss://10.0.0.1/a;b=c',
  'ftp://a.example/a//b/',
  'urn:example:a:b%2Cc',
  'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  'spiffe://cluster.local/ns/team-a/sa/web',
  'spiffe://example.org/a.b-c_d',
  'foo://a.example/x?y#z',
  'tag:example.com,2026:a',
  'https://user:pass@a.example/',
  'https://a.example/team-a%2f..%2fadmin',
  'https://a.example/a/../b',
  'https:evil.example/x',
  'https://a.example:99999/',
  'foo:/a/b',
];

const PIECES = [
  '/',
  '//',
  ':',
  '@',
  '?',
  '#',
  '[',
  ']',
  '%',
  '%2f',
  '%2F',
  '%2e',
  '%5c',
  '%25',
  '%00',
  '%41',
  '%c3%a9',
  '%ff',
  '..',
  '.',
  '\\',
  ';',
  '=',
  '&',
  '+',
  '~',
  '|',
  '^',
  ' ',
  '\t',
  '\n',
  '\u00e9',
  'a',
  'Z',
  '0',
  '00443',
  ':80',
  ':443',
  '::1',
  '%5B',
  '%40',
  'a.example',
  '10.0.0.1',
  'xn--',
  '*',
];

function mutated(text: string, dice: Dice): string {
  let now = text;
  for (let times = dice.roll(4); times > 0; times--) {
    const at = dice.roll(now.length + 1);
    const end = at + (dice.roll(2) === 0 ? dice.roll(4) : 0);
    now = now.slice(0, at) + (dice.roll(4) === 0 ? '' : dice.of(PIECES)) + now.slice(end);
  }
  return now;
}

/** RFC 3986 appendix B, and the authority taken apart. */
const APPENDIX_B = /^([^:/?#]+):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;
const AUTHORITY = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/;

interface Parts {
  readonly scheme: string;
  readonly user: boolean;
  readonly host: string;
  readonly port: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

function partsOf(canonical: string): Parts {
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] =
    APPENDIX_B.exec(canonical) ?? [];
  const [, host = '', port = ''] = AUTHORITY.exec(authority) ?? [];
  return {
    scheme,
    user: false,
    host: host.replaceAll(/[[\]]/g, ''),
    port,
    path: decodeURIComponent(path),
    query: decodeURIComponent(query),
    fragment: decodeURIComponent(fragment),
  };
}

const DEFAULTS: Readonly<Record<string, string>> = {
  http: '80',
  https: '443',
  ws: '80',
  wss: '443',
  ftp: '21',
};

/**
 * RFC 3986 §6.2.3: behind a host, no path is the path `/`; but SPIFFE IDs have a standard of their
 * own.
 */
function pathOf({ scheme, host, path }: Parts): string {
  if (scheme === 'urn') return urnPath(path);
  return host !== '' && path === '' && scheme !== 'spiffe' ? '/' : path;
}

/**
 * RFC 8141 §3.1: the namespace of a URN is the same in either case; RFC 9562 §4: so is all of a
 * UUID.
 */
function urnPath(path: string): string {
  const [namespace = ''] = path.split(':', 1);
  const lower = namespace.toLowerCase();
  return lower === 'uuid' ? path.toLowerCase() : lower + path.slice(namespace.length);
}

/**
 * What Go read in the text as it was written, with the spellings that RFC 3986 §6.2 calls the same
 * made one.
 */
function normalized(parts: Parts): Parts {
  const port = parts.port === '' ? '' : String(Number(parts.port));
  return {
    ...parts,
    host: parts.host.includes(':')
      ? new URL(`http://[${parts.host}]`).hostname.slice(1, -1)
      : parts.host.toLowerCase(),
    port: port === DEFAULTS[parts.scheme] ? '' : port,
    path: pathOf(parts),
  };
}

test(`Go agrees with our spelling of ${count} URIs and mutants, unless we refuse them`, async () => {
  await using oracle = await openOracle();
  let agreed = 0;
  const compare = async (text: string): Promise<void> => {
    const canonical = attempt(() => canonicalUri(text));
    if (canonical instanceof SignerError) return;
    const wanted = partsOf(canonical);
    const answers = [canonical, text].map((each) => oracle.ask('u', Buffer.from(each)));
    const [ofCanonical, ofText] = (await Promise.all(answers)).map((each) => partsIn(each, text));
    assert.deepEqual(ofCanonical, wanted, `${JSON.stringify(text)} as ${canonical}`);
    assert.deepEqual(ofText && normalized(ofText), wanted, JSON.stringify(text));
    agreed += 1;
  };
  for (const text of CORPUS) await compare(text);
  const BATCH = 500;
  for (let number = 0; number < count; number += BATCH) {
    const texts = Array.from({ length: BATCH }, (_, index) => {
      const dice = diceOf(number + index);
      return mutated(dice.of(CORPUS), dice);
    });
    await Promise.all(texts.map(compare));
  }
  assert.ok(agreed > count / 10, `only ${agreed} were accepted`);
});

function partsIn({ level, reason }: Answer, text: string): Parts {
  assert.equal(level, ACCEPTED, `Go refuses ${JSON.stringify(text)}, and we do not: ${reason}`);
  return JSON.parse(reason) as Parts;
}
