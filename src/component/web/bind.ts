// SPDX-License-Identifier: Apache-2.0
import type { Server } from 'node:net';
import type { Log } from '#base/ports.ts';
import { membersOf } from '#base/record.ts';

/** All addresses of both families: the socket of `::` also takes IPv4 (RFC 3493 §3.7). */
const BOTH_FAMILIES = '::';
const IPV4_ONLY = '0.0.0.0';

/** Errors of a kernel that was started with `ipv6.disable=1`, or without the module. */
const NO_IPV6: ReadonlySet<unknown> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL']);

const IPV4_FALLBACK =
  'this kernel has no IPv6, so the port is open on IPv4 only; nothing to do unless the pod has an IPv6 address';

/**
 * Opens a server's port. A host of '' is every address of both families, or of IPv4 where the
 * kernel has no IPv6. Kubelets send probes to `status.podIP`, which is IPv6 in an IPv6-first
 * cluster.
 *
 * @throws Error of the system
 */
export async function bind(
  server: Pick<Server, 'listen' | 'once'>,
  { host, port }: { readonly host: string; readonly port: number },
  log?: Log,
): Promise<void> {
  if (host !== '') return open(server, host, port);
  try {
    await open(server, BOTH_FAMILIES, port);
  } catch (error) {
    if (!NO_IPV6.has(membersOf(error)['code'])) throw error;
    await open(server, IPV4_ONLY, port);
    log?.warn({ port }, IPV4_FALLBACK);
  }
}

function open(server: Pick<Server, 'listen' | 'once'>, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, ipv6Only: false }, resolve);
  });
}
