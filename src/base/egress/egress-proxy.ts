// SPDX-License-Identifier: Apache-2.0
import { BlockList, isIP } from 'node:net';
import { attempt, SignerError, usageError } from '../errors.ts';
import { parseNetwork } from './networks.ts';

/** The proxy through which calls over TLS leave the cluster. */
export interface EgressProxy {
  /** Origin, `http:` or `https:`. It has neither a user nor a password, so messages may show it. */
  readonly origin: URL;
  /** `Proxy-Authorization` (RFC 9110 §11.7.2), a secret. */
  readonly authorization: string | undefined;
  /** Reports whether calls to a server leave without the proxy. @param host - without brackets */
  readonly isBypassed: (host: string, port: number) => boolean;
}

/**
 * Reads `HTTPS_PROXY` and `NO_PROXY`, or their names in lower case, as Go does
 * (golang.org/x/net/http/httpproxy). Upper case comes first.
 *
 * @returns undefined without a proxy
 * @throws SignerError USAGE that never quotes the URL, which may have a password
 */
export function readEgressProxy(
  environment: Readonly<Record<string, string | undefined>>,
): EgressProxy | undefined {
  const [name, text] = variableOf(environment, 'HTTPS_PROXY');
  if (text === '') return undefined;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw usageError(`${name} is not a URL of a proxy; write http://<host>:<port>`);
  const authorization = authorizationOf(url, name);
  const [, exceptions] = variableOf(environment, 'NO_PROXY');
  return { origin: new URL(url.origin), authorization, isBypassed: bypassOf(exceptions) };
}

function variableOf(
  environment: Readonly<Record<string, string | undefined>>,
  upper: string,
): readonly [name: string, value: string] {
  const lower = upper.toLowerCase();
  const name = (environment[upper] ?? '') === '' ? lower : upper;
  return [name, environment[name] ?? ''];
}

function authorizationOf({ username, password }: URL, variable: string): string | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const decoded = [username, password].map(decodeURIComponent).join(':');
    return `Basic ${Buffer.from(decoded).toString('base64')}`;
  } catch {
    throw usageError(`${variable} has a user or a password that is not percent-encoded`);
  }
}

/** Names that exist inside a cluster only. No proxy outside of it resolves them. */
const INSIDE = ['localhost', 'svc', 'cluster.local'];

/**
 * Returns the judge of `NO_PROXY`: `*`, names with all names below them, `.name` for these alone,
 * addresses and networks, each with an optional port. Loopback and names of Services need no entry.
 */
function bypassOf(text: string): EgressProxy['isBypassed'] {
  const entries = text.split(',').map((each) => each.trim().toLowerCase());
  const judges = entries.filter((each) => each !== '').map(judgeOf);
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8);
  loopback.addAddress('::1', 'ipv6');
  return (host, port) => {
    const name = host.toLowerCase().replace(/\.$/, '');
    const family = isIP(name);
    if (family !== 0 && loopback.check(name, family === 6 ? 'ipv6' : 'ipv4')) return true;
    if (family === 0 && INSIDE.some((each) => isWithin(name, each))) return true;
    return judges.some((judge) => judge(name, port));
  };
}

function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

function judgeOf(entry: string): (name: string, port: number) => boolean {
  if (entry === '*') return () => true;
  const bare = entry.replace(/^\[(.*)\]$/, '$1');
  const network = attempt(() => parseNetwork(bare));
  if (!(network instanceof SignerError)) {
    const list = new BlockList();
    const [address = ''] = bare.split('/');
    const family = network.octets.length === 16 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, network.bits, family);
    return (name) => isIP(name) !== 0 && list.check(name, isIP(name) === 6 ? 'ipv6' : 'ipv4');
  }
  const [, host = entry, digits] = /^\[?(.*?)\]?:(\d+)$/.exec(entry) ?? [];
  const domain = host.replace(/^\*?\./, '');
  const isSuffix = domain !== host;
  return (name, port) => {
    if (digits !== undefined && Number(digits) !== port) return false;
    return isSuffix ? name.endsWith(`.${domain}`) : isWithin(name, domain);
  };
}
