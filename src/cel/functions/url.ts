// SPDX-License-Identifier: Apache-2.0
/**
 * Kubernetes' URL library: `url()`, `isURL()` and the parts of a URL, parsed by RFC 3986. Node's
 * WHATWG parser repairs malformed URLs such as `https:\\a\..\b`, so this file does not use it.
 */
import { listOf, type Bound } from '../cost/bound.ts';
import { PARSED, linear, toSame, toScalar, type CelFunction, type Signature } from './function.ts';

interface UrlParts {
  readonly scheme: string;
  readonly authority: Authority;
  readonly escapedPath: string;
  readonly query: string;
}

export class Url {
  /** The URL with its scheme in lower case. Kubernetes compares two URLs by it. */
  readonly text: string;
  readonly parts: UrlParts;

  constructor(text: string, parts: UrlParts) {
    this.text = text;
    this.parts = parts;
  }
}

/** Compares as Kubernetes' URL type does. */
export function sameUrl(a: Url, b: Url): boolean {
  return a.text === b.text;
}

interface Authority {
  /** Host with brackets and port, without user information. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
}

/** RFC 3986 appendix B, limited to the characters that §2 allows. */
const REFERENCE =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/;
const ALLOWED = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;
const AUTHORITY = /^(?:[^@]*@)?((\[[0-9A-Fa-f:.]+\]|[^:[\]@]*)(?::([0-9]*))?)$/;

/** Parses absolute URIs and absolute paths, as Go's url.ParseRequestURI does. */
function parseUrl(text: string): Url | undefined {
  const found = ALLOWED.test(text) ? REFERENCE.exec(text) : null;
  if (found === null) return undefined;
  const [, scheme, host, path = '', query = ''] = found;
  const authority = parseAuthority(host ?? '');
  if (authority === undefined || !isAbsolute(scheme, host, path)) return undefined;
  const parts = {
    scheme: (scheme ?? '').toLowerCase(),
    authority,
    escapedPath: pathOf(host, path),
    query,
  };
  return new Url(`${parts.scheme}${text.slice(parts.scheme.length)}`, parts);
}

/**
 * Returns the path. A URL without a path hierarchy, such as `urn:…` (Go's url.Opaque), has none.
 */
function pathOf(host: string | undefined, path: string): string {
  return host === undefined && !path.startsWith('/') ? '' : path;
}

function isAbsolute(scheme: string | undefined, host: string | undefined, path: string): boolean {
  return scheme === undefined ? path.startsWith('/') : host !== undefined || path !== '';
}

function parseAuthority(text: string): Authority | undefined {
  const found = AUTHORITY.exec(text);
  if (found === null) return undefined;
  const [, host = '', name = '', port = ''] = found;
  return { host, hostname: name.replace(/^\[|\]$/g, ''), port };
}

function url(text: string): Url {
  const found = parseUrl(text);
  if (found === undefined) throw new TypeError(`"${text.slice(0, 64)}" is not a URL`);
  return found;
}

function query({ parts: { query: text } }: Url): Map<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = found.get(name);
    if (values === undefined) found.set(name, [value]);
    else values.push(value);
  }
  return found;
}

function part(name: string, partOf: (parts: UrlParts) => string): CelFunction {
  const signature: Signature = {
    receiver: 'net.URL',
    parameters: '',
    returns: 'string',
    handler: ({ parts }: Url) => partOf(parts),
  };
  return { name, signatures: [signature], price: linear(toSame) };
}

const PRICE = linear(toSame, 0.2, PARSED);

const toQuery = ([text]: readonly Bound[]): Bound => {
  const value = { size: text?.size ?? 1 };
  return { size: value.size, keys: value, of: listOf(value.size, value) };
};

/** The bound of a URL is the bound of its string. */
export const URLS: readonly CelFunction[] = [
  {
    name: 'url',
    signatures: [{ parameters: 'string', returns: 'net.URL', handler: url }],
    price: PRICE,
  },
  {
    name: 'isURL',
    signatures: [
      {
        parameters: 'string',
        returns: 'bool',
        handler: (text: string) => parseUrl(text) !== undefined,
      },
    ],
    price: { ...PRICE, result: toScalar },
  },
  part('getScheme', (from) => from.scheme),
  part('getHost', (from) => from.authority.host),
  part('getHostname', (from) => from.authority.hostname),
  part('getPort', (from) => from.authority.port),
  part('getEscapedPath', (from) => from.escapedPath),
  {
    name: 'getQuery',
    signatures: [
      {
        receiver: 'net.URL',
        parameters: '',
        returns: 'map<string, list<string>>',
        handler: query,
      },
    ],
    price: linear(toQuery, 1),
  },
];
