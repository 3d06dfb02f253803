// SPDX-License-Identifier: Apache-2.0
import { lookup, type LookupAddress } from 'node:dns';
import type { ConnectGuard } from '../../acme/exchange.ts';
import { parseIp } from '../../ip.ts';
import { refusalOf, type Network } from './networks.ts';

/**
 * Keeps connections on the Internet, and in these networks: each address is judged where the connection is made, so no
 * second look-up comes in between.
 */
export function connectGuard(allowed: readonly Network[]): ConnectGuard {
  const refusal = (address: string): string | undefined => {
    const octets = parseIp(address.replace(/^\[|\]$/g, ''));
    const what = octets === undefined ? undefined : refusalOf(octets, allowed);
    if (what === undefined) return undefined;
    return `${address} is ${what}, which servers of AcmeSigners may be in only where an administrator allows the network (--namespaced-network)`;
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
