// SPDX-License-Identifier: Apache-2.0
import type { Pool } from 'undici';
import type { Holds } from './holds.ts';
import type { Script } from './script.ts';
import type { Tally } from './tally.ts';
import type { Traffic } from './traffic.ts';

/** What the parts of the proxy share. */
export interface Inside {
  readonly upstream: Pool;
  readonly script: Script;
  readonly tally: Tally;
  readonly traffic: Traffic;
  readonly holds: Holds;
  readonly kill: (client: string) => Promise<void>;
}
