// SPDX-License-Identifier: Apache-2.0
import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { parseIp } from '../ip.ts';
import { refusalOf, type Network } from './networks.ts';

/** Words of a refusal: the callee, and the flag that allows its networks. */
export interface GuardWords {
  readonly called: string;
  readonly flag: string;
}

/** Checks the addresses that connections may reach. */
export interface ConnectGuard {
  /** Finds the addresses of a name, without refused ones. */
  readonly lookup: LookupFunction;
  /**
   * Returns the reason against calls to an address. Returns undefined for an allowed address, and
   * for a name.
   */
  readonly refusalOf: (host: string) => string | undefined;
}

/**
 * Limits connections to the Internet and these networks. It checks each address when the connection
 * is made, so no second lookup can change it.
 */
export function connectGuard(
  allowed: readonly Network[],
  { called, flag }: GuardWords,
): ConnectGuard {
  const refuse = (address: string): string | undefined => {
    const plain = address.replace(/^\[|\]$/g, '');
    const octets = parseIp(plain);
    // Node.js connects without a lookup to some texts that parseIp rejects, such as fe80::1%eth0.
    if (octets === undefined && isIP(plain) !== 0)
      return `${address} names an interface of this machine, and ${called} may not`;
    const what = octets === undefined ? undefined : refusalOf(octets, allowed);
    if (what === undefined) return undefined;
    return `${address} is ${what}, which ${called} may be in only where an administrator allows the network (${flag})`;
  };
  return {
    refusalOf: refuse,
    lookup: (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, found) => {
        if (error !== null) {
          callback(error, '');
          return;
        }
        const fine = found.filter(({ address }) => refuse(address) === undefined);
        const [first] = fine;
        if (first === undefined) callback(refused(hostname, found, refuse), '');
        else if (options.all === true) callback(null, fine);
        else callback(null, first.address, first.family);
      });
    },
  };
}

function refused(
  hostname: string,
  [first]: readonly LookupAddress[],
  refuse: (address: string) => string | undefined,
): NodeJS.ErrnoException {
  const why = first === undefined ? 'it has no address' : (refuse(first.address) ?? '');
  return Object.assign(new Error(`${hostname}: ${why}`), { code: 'ADDRESS_REFUSED' });
}
