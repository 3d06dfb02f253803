// SPDX-License-Identifier: Apache-2.0
import type { Log, LogFields } from '#base/ports.ts';

export interface LogLine {
  readonly level: keyof Log;
  readonly fields: LogFields;
  readonly message: string;
}

/** A log that can be read. */
export function recordedLog(): Log & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: keyof Log) =>
    (fields: LogFields, message: string): void => {
      lines.push({ level, fields, message });
    };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
