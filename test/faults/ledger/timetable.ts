// SPDX-License-Identifier: Apache-2.0
import { setTimeout as sleep } from 'node:timers/promises';
import { TIMETABLE, type Happening } from '../mixed/timetable.ts';
import type { LedgerLab } from './lab.ts';

/**
 * Longer than a component waits for an answer (src/ledger/sender/https.ts): it sends the batch
 * again.
 */
const STOPPED_MS = 20_000;
/** Longer than a component keeps quiet about it (src/app/ledger/ledger-faults.ts). */
const AWAY_MS = 30_000;

/** What befalls the ledger and its database, beside what befalls everybody else. */
function ofLedger({ place, relay, renewAccess }: LedgerLab): readonly Happening[] {
  const kill = (at: number): Happening => ({
    at,
    what: 'kill −9',
    whom: 'ledger',
    happen: (lab) => lab.component('ledger').kill(),
  });
  const full = (at: number): Happening => ({
    at,
    what: 'full',
    whom: 'disk of the ledger',
    happen: (lab) => place.full(lab.component('ledger')),
  });
  const restored = (at: number): Happening => ({
    at,
    what: 'killed and restored',
    whom: 'database of the ledger',
    happen: (lab) => place.restored(lab.component('ledger')),
  });
  return [
    kill(0.03),
    {
      at: 0.07,
      what: 'SIGSTOP, SIGCONT',
      whom: 'ledger',
      happen: async (lab) => {
        const { process } = lab.component('ledger');
        process.signal('SIGSTOP');
        await sleep(STOPPED_MS);
        process.signal('SIGCONT');
      },
    },
    { at: 0.15, what: 'away', whom: 'database of the ledger', happen: () => place.away() },
    restored(0.22),
    full(0.28),
    {
      at: 0.32,
      what: 'new tokens and certificate',
      whom: 'ledger',
      happen: renewAccess,
    },
    kill(0.38),
    { at: 0.45, what: 'hangs', whom: 'database of the ledger', happen: () => place.hangs() },
    {
      at: 0.52,
      what: 'out of reach',
      whom: 'ledger',
      happen: async () => {
        relay.shut();
        await sleep(AWAY_MS);
        relay.open();
      },
    },
    {
      at: 0.62,
      what: 'kill −9 while the disk is full',
      whom: 'ledger',
      happen: async (lab) => {
        const ended = place.full(lab.component('ledger'));
        await sleep(STOPPED_MS / 4);
        await lab.component('ledger').kill();
        await ended;
      },
    },
    restored(0.7),
    kill(0.72),
    kill(0.85),
  ];
}

/**
 * Those whose records wait in memory, in the mode `best-effort`: nobody can count what a killed
 * process had.
 */
const COUNTED: readonly string[] = ['signer', 'approver', 'pcr-issuer'];

/** Everything that befalls anybody, in the order of its time. */
export function ledgerTimetable(at: LedgerLab): readonly Happening[] {
  const ofOthers = TIMETABLE.filter(
    ({ what, whom }) => at.mode === 'required' || !(what === 'kill −9' && COUNTED.includes(whom)),
  );
  return [...ofOthers, ...ofLedger(at)].sort((a, b) => a.at - b.at);
}
