// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '../../errors.ts';
import { formatIp, parseIp } from '../../ip.ts';
import { quote, quoteList } from '../../quote.ts';
import { askAddress } from './ask-address.ts';
import { refusalOf, urlHost, type Network } from '../../egress/networks.ts';

/** The file that a CA is going to look for. */
export interface Http01File {
  /** A DNS name, or an address (RFC 8738). */
  readonly dnsName: string;
  readonly token: string;
  /** Its content. */
  readonly key: string;
}

export interface Http01CheckInit {
  /**
   * All IPv4 and IPv6 addresses of a name; none where it has none.
   *
   * @throws Error where they cannot be read
   */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** Networks that are asked although they are no part of the Internet. */
  readonly allowed: readonly Network[];
  /** Where ports 80 and 443 are, for a CA that validates on others, as test servers do. */
  readonly ports?: { readonly http: number; readonly https: number };
  /** Ends the check. */
  readonly signal?: AbortSignal | undefined;
}

/** As many as Let's Encrypt follows. */
const MAX_REDIRECTS = 10;
/** Of one name. */
const MAX_ADDRESSES = 16;
/** Of one check: redirects of many addresses to many names must not make it a flood. */
const MAX_CALLS = 64;
const MAX_URL = 2_048;
const TOTAL_MS = 20_000;

const STANDARD_PORTS = { http: 80, https: 443 } as const;

/**
 * Looks for the file as a CA does (RFC 8555 §8.3): at port 80 of every address that the name resolves to, over ten
 * redirects at most, to ports 80 and 443 only. A name is resolved once for each URL; the connection goes to the address
 * that was checked. Never throws.
 *
 * @returns undefined where every address serves it, or one sentence that says which address answered what. It never
 *   repeats the body of an answer: whoever names a host would else read by us what it says.
 */
export async function checkHttp01(
  file: Http01File,
  init: Http01CheckInit,
): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(TOTAL_MS);
  const signal = init.signal === undefined ? timeout : AbortSignal.any([init.signal, timeout]);
  const check = new Check(file, init, signal);
  const address = parseIp(file.dnsName);
  const host = address === undefined ? file.dnsName : urlHost(address);
  const problems = await check.visit(
    new URL(`http://${host}/.well-known/acme-challenge/${file.token}`),
    [],
  );
  if (problems.length === 0) return undefined;
  const shown = [...new Set(problems)].sort();
  const more = shown.length > 3 ? `; and ${shown.length - 3} more` : '';
  return `the file is not there: ${shown.slice(0, 3).join('; ')}${more}`;
}

class Check {
  readonly #file: Http01File;
  readonly #init: Http01CheckInit;
  readonly #signal: AbortSignal;
  readonly #visited = new Set<string>();
  #calls = 0;

  constructor(file: Http01File, init: Http01CheckInit, signal: AbortSignal) {
    this.#file = file;
    this.#init = init;
    this.#signal = signal;
  }

  /** @param before - URLs that led here */
  async visit(url: URL, before: readonly string[]): Promise<readonly string[]> {
    if (before.includes(url.href)) return [`${hostOf(url)} redirects in a circle`];
    if (before.length > MAX_REDIRECTS) return [`more than ${MAX_REDIRECTS} redirects`];
    if (this.#visited.has(url.href)) return [];
    this.#visited.add(url.href);
    const addresses = await this.#addressesOf(url);
    if (typeof addresses === 'string') return [addresses];
    const found = await Promise.all(addresses.map((each) => this.#ask(url, each)));
    const next = new Map(
      found.flatMap((each) => (each instanceof URL ? [[each.href, each] as const] : [])),
    );
    const problems = found.filter((each) => typeof each === 'string');
    // One after the other: a second way to a URL finds it visited.
    for (const each of next.values()) {
      problems.push(...(await this.visit(each, [...before, url.href])));
    }
    return problems;
  }

  async #addressesOf(url: URL): Promise<readonly Uint8Array[] | string> {
    const literal = parseIp(url.hostname.replaceAll(/[[\]]/g, ''));
    if (literal !== undefined) return [literal];
    try {
      const texts = await this.#init.resolve(url.hostname);
      const addresses = texts.map(parseIp).filter((each) => each !== undefined);
      if (addresses.length === 0) return `${hostOf(url)} has no address`;
      return addresses.slice(0, MAX_ADDRESSES);
    } catch (error) {
      return `${hostOf(url)} cannot be resolved: ${quote(messageOf(error), 120)}`;
    }
  }

  /** @returns undefined where the file is there, a problem, or where it leads */
  async #ask(url: URL, address: Uint8Array): Promise<string | URL | undefined> {
    const who = `${formatIp(address) ?? ''} of ${hostOf(url)}`;
    const { allowed, ports = STANDARD_PORTS } = this.#init;
    const refusal = refusalOf(address, allowed);
    if (refusal !== undefined) {
      return `${who} is not asked: it is ${refusal}; an administrator can allow its network (--self-check-network of acme)`;
    }
    this.#calls += 1;
    if (this.#calls > MAX_CALLS) return `it leads to more than ${MAX_CALLS} addresses`;
    const port = url.protocol === 'https:' ? ports.https : ports.http;
    const answer = await askAddress({ url, address, port, signal: this.#signal });
    if (answer.kind === 'problem') return `${who} ${answer.problem}`;
    if (answer.kind === 'body') {
      return this.#isTheFile(answer.body) ? undefined : `${who} answered 200 with another content`;
    }
    const { location } = answer;
    const to = redirectOf(url, location);
    return to ?? `${who} redirects to what is not followed: ${quote(location, 120)}`;
  }

  /** RFC 8555 §8.3: whitespace at the end is ignored. */
  #isTheFile(body: Buffer): boolean {
    return body.toString('latin1').trimEnd() === this.#file.key;
  }
}

/** A URL over http or https, at the port of its scheme, without a user. */
function redirectOf(from: URL, location: string): URL | undefined {
  if (location.length > MAX_URL || !URL.canParse(location, from.href)) return undefined;
  const to = new URL(location, from.href);
  const isWeb = to.protocol === 'http:' || to.protocol === 'https:';
  if (!isWeb || to.username !== '' || to.password !== '' || to.hostname === '') return undefined;
  // The port is empty where it is that of the scheme; 80 and 443 are asked by either scheme.
  if (to.port !== '') return undefined;
  to.hash = '';
  return to;
}

const hostOf = (url: URL): string => quoteList([url.hostname]);
