// SPDX-License-Identifier: Apache-2.0
import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { Log } from '../ports.ts';

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
  const target =
    format === 'pretty'
      ? pretty({ destination: 2, sync: true, ignore: 'component' })
      : pino.destination({ dest: 2, sync: true });
  const root = pino(options, target);
  return { child: (fields) => root.child(fields) };
}
