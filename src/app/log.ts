// SPDX-License-Identifier: Apache-2.0
import { pino, type DestinationStream } from 'pino';
import type { Log } from '#base/ports.ts';
import { printable, printableJson } from '#base/quote.ts';
import type { LogFormat, LogLevel } from './log-settings.ts';

/** A log that creates loggers with fixed fields. */
export interface RootLog {
  child(fields: Readonly<Record<string, unknown>>): Log;
}

/** Logs to stderr, because stdout is for the output of commands. */
export async function createLog(format: LogFormat, level: LogLevel): Promise<RootLog> {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const root = pino(options, await DESTINATIONS[format]());
  return { child: (fields) => root.child(fields) };
}

/**
 * Outputs by format. Fields contain texts of requesters, so both formats escape characters that a
 * terminal interprets.
 */
const DESTINATIONS: Readonly<
  Record<LogFormat, () => DestinationStream | Promise<DestinationStream>>
> = {
  json: () => {
    const stderr = pino.destination({ dest: 2, sync: true });
    return { write: (line) => stderr.write(printableJson(line)) };
  },
  pretty: async () => {
    // Imported only here, because the logs of pods are JSON.
    const { default: pretty } = await import('pino-pretty');
    const stderr = pretty({ destination: 2, sync: true, ignore: 'component' });
    return { write: (line) => stderr.write(`${printableRecord(line)}\n`) };
  },
};

/** Escapes the texts of a record, because `pino-pretty` writes them without quotes. */
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
