// SPDX-License-Identifier: Apache-2.0
import { environmentRow, profileRow } from '#install/admission/injection/profiles.ts';
import { PROFILE } from './tokens.ts';

/** Rows of the tables of injection, and the loop that replaces each. */
export const ROWS: readonly (readonly [text: string, action: string])[] = [
  [profileRow(PROFILE), loopOf('$names.profiles', profileRow(fields(PROFILE)))],
  ...PROFILE.environment.map((each): [string, string] => [
    environmentRow(PROFILE.name, each),
    loopOf('$names.environment', environmentRow('{{ .profile }}', fields(each))),
  ]),
];

/** Writes a row for each item of a list. An action would take a brace before it as its own. */
function loopOf(list: string, row: string): string {
  return `{{ range ${list} }}{{ "{" }}${row.slice(1)}{{ end }}`;
}

/** Replaces each text of an object with the action that writes the field of that name. */
function fields<T extends object>(of: T): Record<keyof T, string> {
  const actions = Object.keys(of).map((key) => [key, `{{ .${key} }}`]);
  return Object.fromEntries(actions) as Record<keyof T, string>;
}
