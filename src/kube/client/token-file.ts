// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { membersOf } from '#base/record.ts';

/**
 * Returns the path of `users[].user.tokenFile` of a kubeconfig, which client-node 2.0.1 drops.
 *
 * @param kubeconfigs - the first that has the user counts, and one that does not exist has none
 * @param user - name of the user, or undefined if the kubeconfigs have none
 * @throws Error if a file cannot be read
 */
export async function readTokenFile(
  kubeconfigs: readonly string[],
  user: string | undefined,
): Promise<string | undefined> {
  for (const kubeconfig of kubeconfigs.filter((each) => existsSync(each))) {
    const file: unknown = parse(await readFile(kubeconfig, 'utf8'));
    const { users } = membersOf(file);
    if (!Array.isArray(users)) continue;
    const entry: unknown = users.find((each: unknown) => membersOf(each)['name'] === user);
    if (entry === undefined) continue;
    const { tokenFile: found } = membersOf(membersOf(entry)['user']);
    return typeof found === 'string' ? resolve(dirname(kubeconfig), found) : undefined;
  }
  return undefined;
}
