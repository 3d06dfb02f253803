// SPDX-License-Identifier: Apache-2.0
/**
 * What expressions mean in Kubernetes. test/cel/functions.test.ts asks our evaluator, and
 * test/integration/cel.test.ts the API server's.
 */

export const TRUE: readonly string[] = [
  // strings
  "'Ab'.lowerAscii() == 'ab' && 'Ab'.upperAscii() == 'AB'",
  "'\u212aelvin \u00c4'.lowerAscii() == '\u212aelvin \u00c4'",
  "' a\\t'.trim() == 'a' && '\ufeffa'.trim() == '\ufeffa' && '\u0085a'.trim() == 'a'",
  "'😀abc'.indexOf('b') == 2 && '😀abc'.size() == 4",
  "'😀abc'.substring(1) == 'abc' && '😀abc'.substring(0, 1) == '😀'",
  "'😀abc'.charAt(1) == 'a' && 'a'.charAt(1) == ''",
  "'abcabc'.lastIndexOf('bc') == 4 && 'a'.indexOf('z') == -1",
  "'a.b.c'.split('.') == ['a', 'b', 'c'] && 'ab'.split('') == ['a', 'b']",
  "['a', 'b'].join('-') == 'a-b' && 'aXbX'.replace('X', '$&') == 'a$&b$&'",
  "'😀a'.replace('', '-') == '-😀-a-' && ''.replace('', 'b') == 'b'",
  "int('-7') == -7 && string(7) == '7' && string(int('+7')) == '7'",
  // map literals
  "['constructor', 'prototype', '__proto__'].all(k, k in {k: 1} && {k: 1}[k] == 1)",
  "'prototype' in {'prototype': 'a', 'shop': 'b'} && !('toString' in {'shop': 'b'})",
  "size({'__proto__': 1, 'b': 2}) == 2 && {} != {'constructor': 1} && {'a': 1} == {'a': 1}",
  "{1: 'a', 2: 'b'}.all(k, k == 1 || k == 2) && 1 in {1: 'a'} && {true: 'a'}[true] == 'a'",
  // patterns
  "'abc'.matches('b') && !'abc'.matches('^b') && 'a\\nb'.matches('a\\\\sb')",
  "'x-12-y-3'.find('[0-9]+') == '12' && 'x'.find('[0-9]+') == ''",
  "'x-12-y-3'.findAll('[0-9]+') == ['12', '3'] && 'a1b2'.findAll('[0-9]', 1) == ['1']",
  // sets
  "sets.contains(['a', 'b'], ['b']) && !sets.contains(['a'], ['a', 'b']) && sets.contains(['a'], [])",
  "sets.equivalent(['a', 'b', 'a'], ['b', 'a']) && !sets.equivalent(['a'], ['a', 'b'])",
  'sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2])',
  // format
  "'%s-%d%%'.format(['a', 7]) == 'a-7%' && '%x %X %o %b'.format([255, 255, 8, 5]) == 'ff FF 10 101'",
  "'%s %s'.format([['a', 'b'], true]) == '[\"a\", \"b\"] true'",
  // ip
  "ip('10.0.0.1').family() == 4 && ip('::1').family() == 6 && isIP('::ffff') && !isIP('a')",
  "ip('10.0.0.1') == ip('10.0.0.1') && ip('0:0::1') == ip('::1') && ip('::1') != ip('::2')",
  "ip.isCanonical('::1') && !ip.isCanonical('0:0:0:0:0:0:0:1') && !ip.isCanonical('2001:DB8::')",
  "string(ip('2001:db8:0:0:1:0:0:0')) == '2001:db8:0:0:1::' && string(ip('::')) == '::'",
  "string(ip('1:0:0:2:0:0:0:3')) == '1:0:0:2::3' && string(ip('1:0:2:3:4:5:6:7')) == '1:0:2:3:4:5:6:7'",
  "ip('127.8.9.1').isLoopback() && ip('::1').isLoopback() && !ip('128.0.0.1').isLoopback()",
  "ip('169.254.1.1').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast()",
  "ip('224.0.0.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast()",
  "ip('0.0.0.0').isUnspecified() && ip('10.1.1.1').isGlobalUnicast()",
  "!ip('255.255.255.255').isGlobalUnicast() && !ip('ff05::1').isGlobalUnicast()",
  // cidr
  "cidr('10.0.0.0/8').containsIP('10.255.0.1') && !cidr('10.0.0.0/8').containsIP('11.0.0.1')",
  "cidr('::/0').containsIP(ip('::1')) && !cidr('::/0').containsIP('10.0.0.1')",
  "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR('10.0.0.0/8')",
  "string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8' && cidr('10.1.2.3/8').prefixLength() == 8",
  "cidr('10.1.2.3/8').ip() == ip('10.1.2.3') && isCIDR('::/128') && !isCIDR('10.0.0.0/33')",
  // url
  "url('https://u@Example.com:80/a%2fb?x=1&x=2#f').getScheme() == 'https'",
  "url('https://u@example.com:80/a').getHost() == 'example.com:80'",
  "url('https://[::1]:80/').getHostname() == '::1' && url('https://a:80/').getPort() == '80'",
  "url('https://a/b%2fc').getEscapedPath() == '/b%2fc' && url('/a').getScheme() == ''",
  "url('https://a/?x=1&x=2').getQuery() == {'x': ['1', '2']} && isURL('spiffe://a/b')",
  "url('HTTPS://a/b') == url('https://a/b') && url('https://a/b') in [url('https://a/b')]",
  "url('https://a/b') != url('https://a/c') && !(url('https://a') in [url('https://b')])",
  "!isURL('a b') && !isURL('a') && !isURL('') && url('urn:a:b').getEscapedPath() == ''",
  // quantity
  "quantity('1Ki').compareTo(quantity('1024')) == 0 && quantity('1.5G').isGreaterThan(quantity('1G'))",
  "quantity('500').add(quantity('500')).asInteger() == 1000 && sign(quantity('-1')) == -1",
  "quantity('1e3') == quantity('1k') && isQuantity('12E') && !isQuantity('1kk') && !isQuantity('')",
  "quantity('1').add(1) == quantity('2') && quantity('1').sub(2) == quantity('-1')",
  "!quantity('0.1').isInteger() && quantity('3').sub(quantity('1')).isLessThan(quantity('3'))",
];

/** Neither true nor false. */
export const ERRORS: readonly string[] = [
  "ip('::ffff:10.0.0.1') == ip('10.0.0.1')",
  "ip('010.0.0.1').family() == 4",
  "ip('fe80::1%eth0').family() == 6",
  "ip('1::2::3').family() == 6",
  "ip('1:2:3:4:5:6:7:8:9').family() == 6",
  "cidr('10.0.0.0/08').prefixLength() == 8",
  "url('a').getHost() == ''",
  "sign(quantity('a')) == 0",
  "quantity('0.5').asInteger() == 0",
  "int('') == 0",
  "int('0b1') == 1",
  "int('9223372036854775808') == 1",
  "'a'.substring(2) == ''",
  "'a'.charAt(2) == ''",
  "'%d'.format(['a']) == 'a'",
  "'%s %s'.format(['a']) == 'a'",
  "'%s'.format(['a', 'b']) == 'a'",
];
