// SPDX-License-Identifier: Apache-2.0
/** How the ledger is told where its PostgreSQL is: credentials are files, and never arguments. */

/** The volume of the Secret, and where it is mounted. */
export const DATABASE_VOLUME = 'database';
export const DATABASE_DIRECTORY = '/run/countersign/database';

/** The arguments for a PostgreSQL; the chart's helper `countersign.ledgerArgs` makes the same. */
export function postgresArguments({
  url,
  ownCa,
}: {
  /** Without a password; empty: the Secret has it as a whole. */
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
