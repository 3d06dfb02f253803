// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '#base/errors.ts';

const MAX_PORT = 65_535;
const LISTEN = '--listen';

/**
 * Parses `host:port`: `[::1]:8080` for IPv6, `:8080` for all interfaces and both families. The
 * host of `:8080` is ''.
 *
 * @param flag - the flag with the address, for the error
 * @throws SignerError USAGE
 */
export function parseListen(
  listen: string,
  flag = LISTEN,
): { readonly host: string; readonly port: number } {
  const parts = /^(?<host>\[[0-9A-Fa-f:.]+\]|[^:[\]]*):(?<port>\d{1,5})$/.exec(listen)?.groups;
  const port = Number(parts?.['port']);
  if (parts === undefined || port > MAX_PORT) {
    throw listenError(listen, 'must be host:port, such as 127.0.0.1:8080', { flag });
  }
  return { host: (parts['host'] ?? '').replaceAll(/[[\]]/g, ''), port };
}

export function listenError(
  listen: string,
  reason: string,
  { flag = LISTEN, cause }: { readonly flag?: string | undefined; readonly cause?: unknown } = {},
): SignerError {
  const message = `${flag} ${listen}: ${reason}`;
  return new SignerError({ code: 'USAGE', disposition: 'fail', message, cause });
}
