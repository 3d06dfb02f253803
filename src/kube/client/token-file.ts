// SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { membersOf } from '#base/record.ts';

/**
 * Returns the path of `users[].user.tokenFile` of a kubeconfig, which client-node 2.0.1 drops.
 *
 * @param user - name of the user, or undefined if the kubeconfig has none
 * @throws Error if the file cannot be read
 */
export async function readTokenFile(
  kubeconfig: string,
  user: string | undefined,
): Promise<string | undefined> {
  const file: unknown = parse(await readFile(kubeconfig, 'utf8'));
  const { users } = membersOf(file);
  if (!Array.isArray(users)) return undefined;
  const entry: unknown = users.find((each: unknown) => membersOf(each)['name'] === user);
  const { tokenFile: found } = membersOf(membersOf(entry)['user']);
  return typeof found === 'string' ? resolve(dirname(kubeconfig), found) : undefined;
}
