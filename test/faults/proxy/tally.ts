// SPDX-License-Identifier: Apache-2.0
import type { Moment } from './script.ts';
import type { Fault, Rule } from './rule.ts';

/** One fault that was injected. */
export interface Injected {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly client: string;
  /** As {@link faultText} has it. */
  readonly fault: string;
  readonly path: string;
}

/** Every fault that was injected, and how often. */
export interface Tally {
  injected(rule: Pick<Rule, 'verb' | 'fault'>, moment: Pick<Moment, 'client' | 'path'>): void;
  /** A fault that the proxy has no hand in: a process killed, a clock set. */
  noted(fault: string, client: string, path?: string): void;
  /** Fault → times, most frequent first. */
  counts(): ReadonlyMap<string, number>;
  /** All of which this is true, oldest first. */
  find(wanted: (injected: Injected) => boolean): readonly Injected[];
}

export function createTally(): Tally {
  const all: Injected[] = [];
  const note = (fault: string, client: string, path: string): void => {
    all.push({ at: Date.now(), client, fault, path });
  };
  return {
    injected: ({ verb, fault }, { client, path }) => {
      note(faultText(verb, fault), client, path);
    },
    noted: (fault, client, path = '') => {
      note(fault, client, path);
    },
    counts: () => {
      const counts = new Map<string, number>();
      for (const { fault } of all) counts.set(fault, (counts.get(fault) ?? 0) + 1);
      return new Map([...counts].sort(([, a], [, b]) => b - a));
    },
    find: (wanted) => all.filter(wanted),
  };
}

/** `PUT: answer 429`, without what only says how much. */
export function faultText(verb: string, fault: Fault): string {
  const what =
    fault.kind === 'answer'
      ? `answer ${fault.status}`
      : fault.kind === 'kill'
        ? `kill ${fault.moment}`
        : fault.kind;
  return `${verb}: ${what}`;
}
