// SPDX-License-Identifier: Apache-2.0
import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { parseIp } from '../ip.ts';
import { refusalOf, type Network } from './networks.ts';

/** Of whom a refusal speaks: what is called, and the flag that allows it networks. */
export interface GuardWords {
  readonly called: string;
  readonly flag: string;
}

const OF_ACME_SIGNERS: GuardWords = {
  called: 'servers of AcmeSigners',
  flag: '--namespaced-network',
};

/**
 * Keeps connections on the Internet, and in these networks: each address is judged where the connection is made, so no
 * second look-up comes in between.
 *
 * @param words - what a refusal speaks of
 */
export function connectGuard(
  allowed: readonly Network[],
  words: GuardWords = OF_ACME_SIGNERS,
): ConnectGuard {
  const { called, flag } = words;
  const refusal = (address: string): string | undefined => {
    const octets = parseIp(address.replace(/^\[|\]$/g, ''));
    const what = octets === undefined ? undefined : refusalOf(octets, allowed);
    if (what === undefined) return undefined;
    return `${address} is ${what}, which ${called} may be in only where an administrator allows the network (${flag})`;
  };
  return {
    refusalOf: refusal,
    lookup: (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, found) => {
        if (error !== null) {
          callback(error, '');
          return;
        }
        const fine = found.filter(({ address }) => refusal(address) === undefined);
        const [first] = fine;
        if (first === undefined) callback(refused(hostname, found, refusal), '');
        else if (options.all === true) callback(null, fine);
        else callback(null, first.address, first.family);
      });
    },
  };
}

function refused(
  hostname: string,
  [first]: readonly LookupAddress[],
  refusal: (address: string) => string | undefined,
): NodeJS.ErrnoException {
  const why = first === undefined ? 'it has no address' : (refusal(first.address) ?? '');
  return Object.assign(new Error(`${hostname}: ${why}`), { code: 'ADDRESS_REFUSED' });
}

/** Judges where a connection may lead. */
export interface ConnectGuard {
  /** Finds the addresses of a name, without those that are refused. */
  readonly lookup: LookupFunction;
  /** Why nothing is asked of a host that is an address; undefined where it may be, and for a name. */
  readonly refusalOf: (host: string) => string | undefined;
}
