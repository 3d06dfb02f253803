// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import type { AuthorityType } from './define.ts';
import * as messages from './messages.ts';

/** Definitions of several kinds of issuers, each with its own fields. */
export type AuthorityList<Configs extends readonly unknown[]> = {
  readonly [At in keyof Configs]: AuthorityType<Configs[At]>;
};

/**
 * Returns the definitions that one process serves.
 *
 * @throws SignerError USAGE (`fail`) for none, for different names, or for one kind twice
 */
export function authoritiesOf<Config, Configs extends readonly unknown[]>(
  given: AuthorityType<Config> | AuthorityList<Configs>,
): readonly [AuthorityType, ...AuthorityType[]] {
  // Each type serves its own configuration: the host never passes one the other's.
  const all = (Array.isArray(given) ? given : [given]) as unknown as readonly AuthorityType[];
  const [first, ...others] = all;
  if (first === undefined) throw usageError(messages.NO_AUTHORITY);
  const other = others.find(({ name }) => name !== first.name);
  if (other !== undefined) throw usageError(messages.severalNames(first.name, other.name));
  const kinds = all.map(({ issuer }) => `${issuer.plural}.${issuer.group}`);
  const twice = kinds.find((kind, index) => kinds.indexOf(kind) !== index);
  if (twice !== undefined) throw usageError(messages.twoAuthorities(twice));
  return [first, ...others];
}
