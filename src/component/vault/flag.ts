// SPDX-License-Identifier: Apache-2.0
import { checkVaultServer } from '#api/signer/upstream-vault.ts';
import { usageError } from '#base/errors.ts';
import * as messages from './messages.ts';

/** Adds `<server>=<file>` to the servers of a flag. @throws SignerError USAGE */
export function addVault(
  listed: ReadonlyMap<string, string>,
  text: string,
): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  const [server, file] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  checkVaultServer(server);
  if (file === '') throw usageError(messages.fileUnnamed(server));
  if (listed.has(server)) throw usageError(messages.listedTwice(server));
  return new Map([...listed, [server, file]]);
}
