// SPDX-License-Identifier: Apache-2.0
import type { Log } from '#base/ports.ts';

const nothing = (): void => undefined;

/** Ten years of log lines are nobody's to keep. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
