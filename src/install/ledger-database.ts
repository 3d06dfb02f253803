// SPDX-License-Identifier: Apache-2.0
/** Arguments of the ledger for its PostgreSQL. Credentials are files, never arguments. */

/** Name and mount path of the Secret's volume. */
export const DATABASE_VOLUME = 'database';
export const DATABASE_DIRECTORY = '/run/countersign/database';

/**
 * Returns the arguments for a PostgreSQL. The chart's helper `countersign.ledgerArgs` returns the
 * same.
 */
export function postgresArguments({
  url,
  ownCa,
}: {
  /** URL without a password. If empty, the Secret has the whole URL. */
  readonly url: string;
  readonly ownCa: boolean;
}): readonly string[] {
  const file = (flag: string, key: string): string => `${flag}=${DATABASE_DIRECTORY}/${key}`;
  return [
    ...(url === ''
      ? [file('--database-url', 'url')]
      : [`--database=${url}`, file('--database-password', 'password')]),
    ...(ownCa ? [file('--database-ca', 'ca.crt')] : []),
  ];
}
