// SPDX-License-Identifier: Apache-2.0
/** HTTPS_PROXY and NO_PROXY mean what they mean in Go (golang.org/x/net/http/httpproxy). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEgressProxy, type EgressProxy } from '#base/egress/egress-proxy.ts';
import { messageOf } from '#base/errors.ts';

const URL_TEXT = 'http://proxy.example:3128';

function read(environment: Readonly<Record<string, string>>): EgressProxy {
  const proxy = readEgressProxy(environment);
  assert.ok(proxy !== undefined);
  return proxy;
}

test('without HTTPS_PROXY there is no proxy, whatever other variables say', () => {
  for (const environment of [
    {},
    { HTTPS_PROXY: '' },
    { HTTP_PROXY: URL_TEXT, ALL_PROXY: URL_TEXT },
  ])
    assert.equal(readEgressProxy(environment), undefined);
});

for (const [what, environment, origin] of [
  ['upper case', { HTTPS_PROXY: URL_TEXT }, URL_TEXT],
  ['lower case', { https_proxy: URL_TEXT }, URL_TEXT],
  ['upper case before lower case', { HTTPS_PROXY: URL_TEXT, https_proxy: 'http://b' }, URL_TEXT],
  ['a host without a scheme', { HTTPS_PROXY: 'proxy.example:3128' }, URL_TEXT],
  ['TLS to the proxy', { HTTPS_PROXY: 'https://proxy.example' }, 'https://proxy.example'],
] as const)
  test(`HTTPS_PROXY is read: ${what}`, () => {
    assert.equal(read(environment).origin.origin, origin);
  });

test('the credentials of HTTPS_PROXY are decoded, and no shown part has them', () => {
  const proxy = read({ HTTPS_PROXY: 'http://me:p%40ss@proxy.example:3128' });
  const expected = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
  assert.equal(proxy.authorization, expected);
  assert.doesNotMatch(proxy.origin.href, /me|p@ss|p%40ss/);
});

for (const text of [
  'socks5://me:hidden@proxy.example',
  'http://me:hidden@proxy.example:port',
  'http://me:hidden%zz@proxy.example',
])
  test(`the error for a malformed HTTPS_PROXY has no password: ${text}`, () => {
    let message = '';
    try {
      readEgressProxy({ https_proxy: text });
    } catch (error) {
      message = messageOf(error);
    }
    assert.match(message, /^https_proxy /);
    assert.doesNotMatch(message, /hidden/);
  });

// Rows of TestUseProxy of golang.org/x/net/http/httpproxy, and their like.
for (const [exceptions, host, port, isBypassed] of [
  ['', 'acme.example', 443, false],
  ['*', 'acme.example', 443, true],
  ['acme.example', 'acme.example', 443, true],
  ['acme.example', 'ACME.example', 443, true],
  ['acme.example', 'acme.example.', 443, true],
  ['acme.example', 'a.acme.example', 443, true],
  ['acme.example', 'notacme.example', 443, false],
  ['.acme.example', 'acme.example', 443, false],
  ['.acme.example', 'a.acme.example', 443, true],
  ['*.acme.example', 'a.acme.example', 443, true],
  ['acme.example:8443', 'acme.example', 443, false],
  ['acme.example:8443', 'acme.example', 8443, true],
  ['b.example, acme.example', 'acme.example', 443, true],
  ['192.0.2.0/24', '192.0.2.7', 443, true],
  ['192.0.2.0/24', '198.51.100.7', 443, false],
  ['192.0.2.7', '192.0.2.7', 443, true],
  ['2001:db8::/32', '2001:db8::7', 443, true],
  ['[2001:db8::7]', '2001:db8::7', 443, true],
  ['2001:db8::/32', '2001:db9::7', 443, false],
  ['', 'localhost', 443, true],
  ['', '127.0.0.2', 443, true],
  ['', '::1', 443, true],
  ['', 'vault.vault.svc', 443, true],
  ['', 'vault.vault.svc.cluster.local', 443, true],
] as const)
  test(`NO_PROXY=${exceptions}: ${host}:${port} is called ${isBypassed ? 'directly' : 'by proxy'}`, () => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const proxy = read({ HTTPS_PROXY: URL_TEXT, [name]: exceptions });
      assert.equal(proxy.isBypassed(host, port), isBypassed);
    }
  });
