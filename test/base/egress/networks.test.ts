// SPDX-License-Identifier: Apache-2.0
/** Which addresses a self-check may ask: whoever names a host chooses what it resolves to. */
import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import { formatIp, parseIp } from '#base/ip.ts';
import { parseNetwork, refusalOf, urlHost } from '#base/egress/networks.ts';

const octets = (text: string): Uint8Array => {
  const parsed = parseIp(text);
  assert.ok(parsed !== undefined, text);
  return parsed;
};

const refused: [address: string, what: RegExp][] = [
  ['127.0.0.1', /loopback/],
  ['127.255.255.254', /loopback/],
  ['0.0.0.0', /this host/],
  ['10.96.0.1', /private/],
  ['172.31.255.255', /private/],
  ['192.168.0.1', /private/],
  ['100.64.0.1', /carrier/],
  ['169.254.169.254', /link-local/],
  ['192.0.2.1', /documentation/],
  ['168.63.129.16', /cloud/],
  ['::ffff:168.63.129.16', /cloud/],
  ['199.36.153.5', /cloud/],
  ['199.36.153.11', /cloud/],
  ['34.126.0.1', /cloud/],
  ['34.118.224.1', /cloud’s network of Services/],
  ['34.118.239.254', /cloud’s network of Services/],
  ['161.26.0.10', /cloud/],
  ['166.11.255.255', /cloud/],
  ['2600:2d00:2:1000::', /cloud/],
  ['2600:2d00:2:20ff::1', /cloud/],
  ['2001:4860:8040::1', /cloud/],
  ['2001:4860:807f::1', /cloud/],
  ['2600:2d00:0:4::a', /cloud’s network of Services/],
  ['fd20:ce::254', /private/],
  ['100.100.100.200', /carrier/],
  ['192.0.0.192', /reserved/],
  ['198.19.0.1', /benchmarks/],
  ['224.0.0.1', /multicast/],
  ['255.255.255.255', /reserved/],
  ['::', /this host/],
  ['::1', /loopback/],
  ['::7f00:1', /reserved/],
  ['::ffff:127.0.0.1', /loopback interface \(within IPv4-mapped\)/],
  ['::ffff:169.254.169.254', /link-local \(within IPv4-mapped\)/],
  ['64:ff9b::a9fe:a9fe', /link-local \(within NAT64\)/],
  ['64:ff9b:1::a9fe:a9fe', /NAT64 of a private network/],
  ['2002:7f00:1::', /loopback interface \(within 6to4\)/],
  ['fd00:ec2::254', /private/],
  ['fe80::1', /link-local/],
  ['fec0::1', /reserved/],
  ['ff02::1', /multicast/],
  ['2001::1', /reserved for protocols/],
  ['2001:db8::1', /documentation/],
  ['3fff::1', /documentation/],
  ['4000::1', /reserved/],
];

for (const [address, what] of refused) {
  test(`${address} is not asked`, () => {
    assert.match(refusalOf(octets(address), []) ?? 'asked', what);
  });
}

const asked = [
  '8.8.8.8',
  '168.63.129.15',
  '168.63.129.17',
  '199.36.153.3',
  '199.36.153.12',
  '34.118.223.255',
  '34.118.240.0',
  '34.125.255.255',
  '34.126.64.0',
  '2001:4860:4860::8888',
  '2001:4860:8080::1',
  '2600:2d00:0:5::1',
  '166.12.0.0',
  '161.27.0.0',
  '2600:2d00:2:fff::1',
  '2600:2d00:2:2100::',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '11.0.0.0',
  '9.255.255.255',
  '169.253.255.255',
  '223.255.255.255',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::1',
];

for (const address of asked) {
  test(`${address} is asked`, () => {
    assert.equal(refusalOf(octets(address), []), undefined);
  });
}

test('a network that is allowed is asked, and nothing beside it', () => {
  const allowed = [parseNetwork('10.0.0.0/9'), parseNetwork('fd00::/8')];
  assert.equal(refusalOf(octets('10.127.0.1'), allowed), undefined);
  assert.equal(refusalOf(octets('::ffff:10.127.0.1'), allowed), undefined);
  assert.equal(refusalOf(octets('fd12::1'), allowed), undefined);
  assert.match(refusalOf(octets('10.128.0.1'), allowed) ?? '', /private/);
  assert.match(refusalOf(octets('fc00::1'), allowed) ?? '', /private/);
});

test('a network is what Node takes for it, bit by bit', () => {
  for (let bits = 0; bits <= 32; bits += 1) {
    const list = new BlockList();
    list.addSubnet('10.85.170.85', bits, 'ipv4');
    const network = parseNetwork(`10.85.170.85/${bits}`);
    for (let bit = 0; bit < 32; bit += 1) {
      const address = Uint8Array.of(10, 85, 170, 85);
      address[bit >> 3] = (address[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
      const text = formatIp(address) ?? '';
      const isAsked = refusalOf(address, [network]) === undefined;
      const isSpecial = refusalOf(address, []) !== undefined;
      assert.equal(isAsked, list.check(text, 'ipv4') || !isSpecial, `${text} in /${bits}`);
    }
  }
});

for (const text of ['', '10.0.0.0/33', '10.0.0/8', '::/129', '10.0.0.0/8/8', '10.0.0.0/', 'a']) {
  test(`${JSON.stringify(text)} is no network`, () => {
    assert.throws(() => parseNetwork(text), { code: 'USAGE' });
  });
}

test('an address stands in a URL with brackets where it has colons', () => {
  assert.equal(urlHost(octets('192.0.2.1')), '192.0.2.1');
  assert.equal(urlHost(octets('2001:db8:0::1')), '[2001:db8::1]');
});
