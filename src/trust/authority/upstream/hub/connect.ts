// SPDX-License-Identifier: Apache-2.0
import type { Clock, Monotonic } from '#base/ports.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import type { HubCredential } from './credential.ts';

/**
 * Returns the function that opens clients of hubs. A client trusts the CA of the credential alone,
 * and sends the token to that server alone: it follows no redirect, runs no plugin, and reads no
 * file.
 */
export function connectHubs(init: {
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly version: string;
}): (credential: HubCredential) => Client {
  const { clock, monotonic, version } = init;
  return ({ server, ca, token }) => {
    const credentials = Promise.resolve({
      tls: { ca, rejectUnauthorized: true },
      authorization: `Bearer ${token.text}`,
    });
    return createClient({
      connection: { server, credentials: () => credentials, invalidate: () => undefined },
      clock,
      monotonic,
      userAgent: `countersign-authority/${version}`,
    });
  };
}
