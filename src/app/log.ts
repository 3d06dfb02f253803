// SPDX-License-Identifier: Apache-2.0
import { pino, type DestinationStream } from 'pino';
import pretty from 'pino-pretty';
import type { Log } from '../ports.ts';
import { printable, printableJson } from '../quote.ts';

export const LOG_FORMATS = ['json', 'pretty'] as const;
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** A log from which loggers with fixed fields are made. */
export interface RootLog {
  child(fields: Readonly<Record<string, unknown>>): Log;
}

/** Logs to stderr; stdout is for the output of commands. */
export function createLog(
  format: (typeof LOG_FORMATS)[number],
  level: (typeof LOG_LEVELS)[number],
): RootLog {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const root = pino(options, DESTINATIONS[format]());
  return { child: (fields) => root.child(fields) };
}

/** Texts of requesters are in the fields: neither form has a character that a terminal interprets. */
const DESTINATIONS: Readonly<Record<(typeof LOG_FORMATS)[number], () => DestinationStream>> = {
  json: () => {
    const stderr = pino.destination({ dest: 2, sync: true });
    return { write: (line) => stderr.write(printableJson(line)) };
  },
  pretty: () => {
    const stderr = pretty({ destination: 2, sync: true, ignore: 'component' });
    return { write: (line) => stderr.write(`${printableRecord(line)}\n`) };
  },
};

/** A record whose texts are printable as they are: `pino-pretty` writes them without quotes. */
function printableRecord(line: string): string {
  return JSON.stringify(
    JSON.parse(line, (key, value: unknown) => {
      if (typeof value !== 'string') return value;
      if (key !== 'stack') return printable(value);
      return value
        .split(/\n(?= {4}at )/)
        .map(printable)
        .join('\n');
    }),
  );
}
