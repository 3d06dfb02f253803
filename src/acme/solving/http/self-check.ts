// SPDX-License-Identifier: Apache-2.0
import { messageOf } from '#base/errors.ts';
import { formatIp, parseIp } from '#base/ip.ts';
import { quoteList } from '#base/quote.ts';
import { askAddress, type AddressAnswer, type AddressCall } from './ask-address.ts';
import { refusalOf, urlHost, type Network } from '#base/egress/networks.ts';
import * as messages from '../messages.ts';
import { createUnreachableAddresses, type UnreachableAddresses } from './unreachable-addresses.ts';

/** The file that a CA will request. */
export interface Http01File {
  /** A DNS name, or an address (RFC 8738). */
  readonly dnsName: string;
  readonly token: string;
  /** Content of the file. */
  readonly key: string;
}

export interface Http01CheckInit {
  /**
   * Returns all IPv4 and IPv6 addresses of a name, or an empty list.
   *
   * @throws Error if the lookup fails
   */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** Networks outside the Internet that the check may call. */
  readonly allowed: readonly Network[];
  /** Ports in place of 80 and 443, for a CA that validates on others, as test servers do. */
  readonly ports?: { readonly http: number; readonly https: number };
  /** Ends the check. */
  readonly signal?: AbortSignal | undefined;
  /** Calls one address. Default: over the network. */
  readonly call?: ((call: AddressCall) => Promise<AddressAnswer>) | undefined;
  /** Remembers addresses from one check to the next. Default: for this check alone. */
  readonly unreachable?: UnreachableAddresses | undefined;
}

/** Redirects that Let's Encrypt follows. */
const MAX_REDIRECTS = 10;
/** Limit for one name. */
const MAX_ADDRESSES = 16;
/** Limit for one check: redirects of many addresses to many names must not cause a flood. */
const MAX_CALLS = 64;
const MAX_URL = 2_048;
const TOTAL_MS = 20_000;

const STANDARD_PORTS = { http: 80, https: 443 } as const;

/**
 * Requests the file as a CA does (RFC 8555 §8.3): at port 80 of every address of the name. It
 * follows at most ten redirects, to ports 80 and 443 only. It resolves a name once for each URL,
 * and connects to the checked address. Never throws.
 *
 * An address that cannot be connected to is skipped if one of the other family serves the file,
 * as CAs do.
 *
 * @returns undefined if every address that answers serves the file. Otherwise one sentence with the
 *   answers. It repeats no body, no Location, and no refused address. The requester chooses the
 *   hosts, and must not read answers of the cluster's own network and DNS in a message.
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
  const more = shown.length > 3 ? messages.moreFaults(shown.length - 3) : '';
  const advice = check.isUnseen ? messages.WAIT_INSTEAD : '';
  return messages.fileNotThere(shown.slice(0, 3).join('; '), more, advice);
}

/** Answer of one address. */
interface AddressCheck {
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
  readonly answer:
    | { readonly kind: 'file' }
    | { readonly kind: 'redirect'; readonly to: URL }
    | { readonly kind: 'wrong'; readonly fault: string }
    /** No connection was made now, or lately if `call` is there, which tries it again. */
    | {
        readonly kind: 'unreachable';
        readonly fault: string;
        readonly call?: (() => Promise<AddressCheck>) | undefined;
      };
}

class Check {
  readonly #file: Http01File;
  readonly #init: Http01CheckInit;
  readonly #signal: AbortSignal;
  readonly #visited = new Set<string>();
  readonly #unreachable: UnreachableAddresses;
  #calls = 0;
  /** A problem shows only what this process can reach. */
  isUnseen = false;

  constructor(file: Http01File, init: Http01CheckInit, signal: AbortSignal) {
    this.#file = file;
    this.#init = init;
    this.#signal = signal;
    // One check lasts less than what is remembered.
    this.#unreachable = init.unreachable ?? createUnreachableAddresses(() => 0);
  }

  /** @param before - URLs that redirected to this one */
  async visit(url: URL, before: readonly string[]): Promise<readonly string[]> {
    if (before.includes(url.href)) return [messages.redirectCircle(hostOf(url))];
    if (before.length > MAX_REDIRECTS) return [messages.tooManyRedirects(MAX_REDIRECTS)];
    if (this.#visited.has(url.href)) return [];
    this.#visited.add(url.href);
    const addresses = await this.#addressesOf(url);
    if (typeof addresses === 'string') return [addresses];
    const fine = addresses.filter((each) => refusalOf(each, this.#init.allowed) === undefined);
    if (fine.length === 0) return [messages.noAllowedAddress(hostOf(url))];
    const found = await Promise.all(fine.map((each) => this.#ask(url, each)));
    const problems = await this.#problemsOf(found, [...before, url.href]);
    // A CA may choose that address.
    return fine.length < addresses.length
      ? [messages.refusedAddress(hostOf(url)), ...problems]
      : problems;
  }

  async #problemsOf(found: readonly AddressCheck[], before: readonly string[]): Promise<string[]> {
    const problems: string[] = [];
    const served = new Set<number>();
    // Visit one after the other, so that a second path to a URL finds it visited.
    for (const { address, answer } of found) {
      if (answer.kind === 'unreachable') continue;
      const faults = await this.#faultsOf(answer, before);
      if (faults.length === 0) served.add(address.length);
      problems.push(...faults);
    }
    await this.#addUnreachable({ found, served, problems }, before);
    return problems;
  }

  /** Adds the addresses of `found` without a connection that no other family makes up for. */
  async #addUnreachable(
    {
      found,
      served,
      problems,
    }: Readonly<{
      found: readonly AddressCheck[];
      served: Set<number>;
      problems: string[];
    }>,
    before: readonly string[],
  ): Promise<void> {
    for (const { address, answer } of found) {
      const isServedByOther = [...served].some((octets) => octets !== address.length);
      if (answer.kind !== 'unreachable' || isServedByOther) continue;
      // The address decides if nothing else fails. Then it is called again.
      const again = problems.length === 0 ? await answer.call?.() : undefined;
      const faults = await this.#faultsOf(again?.answer ?? answer, before);
      if (faults.length === 0) served.add(address.length);
      problems.push(...faults);
    }
  }

  async #faultsOf(
    answer: AddressCheck['answer'],
    before: readonly string[],
  ): Promise<readonly string[]> {
    if (answer.kind === 'redirect') return this.visit(answer.to, before);
    if (answer.kind === 'unreachable') this.isUnseen = true;
    return answer.kind === 'file' ? [] : [answer.fault];
  }

  async #addressesOf(url: URL): Promise<readonly Uint8Array[] | string> {
    const literal = literalOf(url);
    if (literal !== undefined) return [literal];
    try {
      const texts = await this.#init.resolve(url.hostname);
      const addresses = texts.map(parseIp).filter((each) => each !== undefined);
      return addresses.slice(0, MAX_ADDRESSES);
    } catch (error) {
      this.isUnseen = true;
      return messages.unresolved(hostOf(url), messageOf(error));
    }
  }

  /** Calls an address, unless no connection could be made to it lately. */
  async #ask(url: URL, address: Uint8Array): Promise<AddressCheck> {
    const { ports = STANDARD_PORTS } = this.#init;
    const port = url.protocol === 'https:' ? ports.https : ports.http;
    const known = this.#unreachable.problemOf(address, port);
    if (known === undefined) return this.#call(url, address, port);
    const fault = unreachable(url, address, known);
    const call = (): Promise<AddressCheck> => this.#call(url, address, port);
    return { address, answer: { kind: 'unreachable', fault, call } };
  }

  async #call(url: URL, address: Uint8Array, port: number): Promise<AddressCheck> {
    this.#calls += 1;
    if (this.#calls > MAX_CALLS)
      return { address, answer: wrong(messages.tooManyAddresses(MAX_CALLS)) };
    const { call = askAddress } = this.#init;
    const got = await call({ url, address, port, signal: this.#signal });
    this.#unreachable.note(address, port, got.kind === 'unreachable' ? got.problem : undefined);
    return { address, answer: this.#judge(got, url, address) };
  }

  #judge(got: AddressAnswer, url: URL, address: Uint8Array): AddressCheck['answer'] {
    const who = nameOf(url, address);
    switch (got.kind) {
      case 'unreachable':
        return { kind: 'unreachable', fault: unreachable(url, address, got.problem) };
      case 'problem':
        return wrong(`${who} ${got.problem}`);
      case 'body':
        return this.#isTheFile(got.body) ? { kind: 'file' } : wrong(messages.otherContent(who));
      case 'redirect': {
        const to = redirectOf(url, got.location);
        return to === undefined ? wrong(messages.redirectRefused(who)) : { kind: 'redirect', to };
      }
    }
  }

  /** Compares the body with the content. RFC 8555 §8.3 ignores whitespace at the end. */
  #isTheFile(body: Buffer): boolean {
    return body.toString('latin1').trimEnd() === this.#file.key;
  }
}

/** Returns a URL over http or https, at the port of its scheme, without a user. */
function redirectOf(from: URL, location: string): URL | undefined {
  if (location.length > MAX_URL || !URL.canParse(location, from.href)) return undefined;
  const to = new URL(location, from.href);
  const isWeb = to.protocol === 'http:' || to.protocol === 'https:';
  if (!isWeb || to.username !== '' || to.password !== '' || to.hostname === '') return undefined;
  // The URL drops the scheme's default port. Another port is refused.
  if (to.port !== '') return undefined;
  to.hash = '';
  return to;
}

function wrong(fault: string): AddressCheck['answer'] {
  return { kind: 'wrong', fault };
}

function unreachable(url: URL, address: Uint8Array, problem: string): string {
  return `${nameOf(url, address)} ${problem}${recordOf(url, address)}`;
}

/** Returns an address and the host that has it, for a message. */
function nameOf(url: URL, address: Uint8Array): string {
  return `${formatIp(address) ?? ''} of ${hostOf(url)}`;
}

/** Returns the record that has the address, for a message. */
function recordOf(url: URL, address: Uint8Array): string {
  if (literalOf(url) !== undefined) return '';
  return messages.ofRecord(address.length === 4 ? 'A' : 'AAAA');
}

function literalOf(url: URL): Uint8Array | undefined {
  return parseIp(url.hostname.replaceAll(/[[\]]/g, ''));
}

const hostOf = (url: URL): string => quoteList([url.hostname]);
