// SPDX-License-Identifier: Apache-2.0
import { MARKS, type Severity } from '#diagnose/check/finding.ts';
import { keysOf } from '#base/object-keys.ts';

/** ANSI colors (ECMA-48, select graphic rendition): green, yellow, red, cyan. */
const COLORS: Readonly<Record<Severity, string>> = {
  ok: '32',
  warning: '33',
  error: '31',
  unseen: '36',
};

const COLOR_OF: ReadonlyMap<string, string> = new Map(
  keysOf(COLORS).map((each) => [MARKS[each], COLORS[each]]),
);

/**
 * Colors the marks at the start of lines of findings.
 *
 * @param printed - a report as text, without control characters except line ends
 */
export function colorMarks(printed: string): string {
  return printed.replace(/^( {2})(\S)(?= )/gmu, (line, indent: string, mark: string) => {
    const color = COLOR_OF.get(mark);
    return color === undefined ? line : `${indent}\u001B[${color}m${mark}\u001B[0m`;
  });
}
