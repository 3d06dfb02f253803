// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';

const MAX_PORT = 65_535;

/**
 * Parses `host:port`: `[::1]:8080` for IPv6, `:8080` for all interfaces.
 *
 * @throws SignerError USAGE
 */
export function parseListen(listen: string): { readonly host: string; readonly port: number } {
  const parts = /^(?<host>\[[0-9A-Fa-f:.]+\]|[^:[\]]*):(?<port>\d{1,5})$/.exec(listen)?.groups;
  const port = Number(parts?.['port']);
  if (parts === undefined || port > MAX_PORT) {
    throw listenError(listen, 'must be host:port, such as 127.0.0.1:8080');
  }
  return { host: (parts['host'] ?? '').replaceAll(/[[\]]/g, ''), port };
}

export function listenError(listen: string, reason: string, cause?: unknown): SignerError {
  const message = `--listen ${listen}: ${reason}`;
  return new SignerError({ code: 'USAGE', disposition: 'fail', message, cause });
}
