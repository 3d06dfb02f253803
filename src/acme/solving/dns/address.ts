// SPDX-License-Identifier: Apache-2.0
import { isIPv6 } from 'node:net';

/** Address of a DNS server. */
export interface DnsAddress {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Default port of DNS servers (RFC 1035 §4.2). */
export const DNS_PORT = 53;
const HOST_AND_PORT = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s]+))(?::([0-9]{1,5}))?$/;

/**
 * Reads `host`, `host:port`, `[address]:port` or an IPv6 address.
 *
 * @param port - default port
 * @returns undefined if it is none of them
 */
export function parseDnsAddress(text: string, port: number = DNS_PORT): DnsAddress | undefined {
  if (isIPv6(text)) return { host: text, port };
  const [, inBrackets, plain, digits] = HOST_AND_PORT.exec(text) ?? [];
  const host = inBrackets ?? plain;
  const given = digits === undefined ? port : Number(digits);
  if (host === undefined || !isPort(given)) return undefined;
  return inBrackets === undefined || isIPv6(inBrackets) ? { host, port: given } : undefined;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}

/** Returns the form that {@link parseDnsAddress} reads. */
export function formatDnsAddress({ host, port }: DnsAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
