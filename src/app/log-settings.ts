// SPDX-License-Identifier: Apache-2.0
export const LOG_FORMATS = ['json', 'pretty'] as const;
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];
export type LogLevel = (typeof LOG_LEVELS)[number];
