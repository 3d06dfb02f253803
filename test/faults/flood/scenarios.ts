// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../cluster/until.ts';
import type { ComponentProcess } from '../../support/cluster/component-process.ts';
import { residentOf } from './resident.ts';
import type { FloodServer, Mood } from './server.ts';

export interface Play {
  readonly server: FloodServer;
  readonly size: number;
  readonly answered: number;
  readonly standingMs: number;
  readonly process: ComponentProcess;
  /** It ended by itself, as without memory. */
  readonly exited: Promise<void>;
}

/** Why a flood is not answered as it comes; in the end it always is. */
export interface Scenario {
  readonly name: string;
  readonly play: (play: Play) => Promise<void>;
}

const PATIENCE_MS = 900_000;

/** It stands for a while, with nobody to answer it, until `heal`. */
async function stand(play: Play, mood: Mood, heal: () => void): Promise<void> {
  play.server.mood = mood;
  await standing(play);
  heal();
  await allIssued(play);
}

const ANSWERED: Scenario = {
  name: 'answered as it comes',
  play: async (play: Play): Promise<void> => {
    play.server.revealSecret();
    await allIssued(play);
  },
};

const NO_CA: Scenario = {
  name: 'its CA is missing',
  play: ({ server, ...rest }: Play): Promise<void> =>
    stand({ server, ...rest }, 'well', () => {
      server.revealSecret();
    }),
};

function refused(name: string, status: number, reason: string): Scenario {
  return {
    name,
    play: (play: Play): Promise<void> => {
      play.server.revealSecret();
      return stand(play, { status, reason }, () => {
        play.server.mood = 'well';
      });
    },
  };
}

export const SCENARIOS: readonly Scenario[] = [
  ANSWERED,
  NO_CA,
  refused('no write is taken', 503, 'ServiceUnavailable'),
  refused('each write is refused', 422, 'Invalid'),
];

async function standing(play: Play): Promise<void> {
  const { server, size, process } = play;
  await orEnded(play, () => until('all are told', PATIENCE_MS, () => server.told === size));
  await orEnded(play, () => sleep(play.standingMs));
  const { now, most } = residentOf(process.pid);
  console.log(`  while it stands: RSS ${now} MiB, ${most} MiB at most; ${server.writes} writes`);
}

async function allIssued(play: Play): Promise<void> {
  const { server, answered } = play;
  await orEnded(play, () => until('they are issued', PATIENCE_MS, () => server.issued >= answered));
}

async function orEnded({ exited, process }: Play, work: () => Promise<unknown>): Promise<void> {
  await Promise.race([
    work(),
    exited.then(() => {
      const last = process.log.slice(-10).map((line) => JSON.stringify(line));
      throw new Error(`pcr-issuer ended:\n${last.join('\n')}`);
    }),
  ]);
}
